"""A temporary directory as a sandbox. UNSAFE, only for the demo: commands run on this machine as the user, with access to
the user's files and network. Everything is removed at the end.
"""

import shutil
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from skyrl_train.agent.sandboxes.bundle import write_bundle
from skyrl_train.agent.sandboxes.piped import piped
from skyrl_train.contracts.agent.ports import Sandbox
from skyrl_train.procfs import environ_of, killed, others

MARK = "SKYRL_SANDBOX"
"""Set in the environment of every process of a sandbox, so that a daemon that left its session is found."""
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ")


@asynccontextmanager
async def directory_sandbox(seed: Path, *, environ: Mapping[str, str]) -> AsyncIterator[Sandbox]:
    """A sandbox in a copy of `seed`, named by R2E_ROOT. Commands start in its `testbed`."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="skyrl-sandbox-", ignore_cleanup_errors=True) as base:
        root = Path(base) / "root"
        shutil.copytree(seed, root, symlinks=True)
        home = root / "root"
        home.mkdir(exist_ok=True)
        passed = {name: environ[name] for name in _PASSED_ON if name in environ}
        own = {**passed, "HOME": str(home), "TMPDIR": base, "R2E_ROOT": str(root), MARK: mark}
        argv = [sys.executable, "-IS", str(write_bundle(Path(base) / "tools.zip")), str(root / "testbed")]
        try:
            async with piped(argv, environ=own, directory=base) as sandbox:
                yield sandbox
        finally:
            end_marked(mark)


def end_marked(mark: str) -> None:
    """Kills every process with this mark, repeatedly, since they may start more meanwhile."""
    marked = f"{MARK}={mark}".encode()
    for _ in range(20):
        if not [pid for pid in others() if killed(pid, lambda each: marked in environ_of(each))]:
            return
