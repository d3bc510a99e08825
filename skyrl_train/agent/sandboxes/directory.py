"""A temporary directory as a sandbox. UNSAFE, for demonstration only: commands run as the user, on this machine, with
the user's files and network. What is kept of a sandbox is that nothing is left of it.
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
from skyrl_train.procfs import environ_of, killed, pids

MARK = "SKYRL_SANDBOX"
"""In the environment of all that a sandbox starts: a daemon that left its session is found by it."""
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ")


@asynccontextmanager
async def directory_sandbox(seed: Path, *, environ: Mapping[str, str]) -> AsyncIterator[Sandbox]:
    """A copy of `seed` as the root of all that the agent should see; R2E_ROOT names it. It begins in its `testbed`."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="skyrl-sandbox-", ignore_cleanup_errors=True) as place:
        root = Path(place) / "root"
        shutil.copytree(seed, root, symlinks=True)
        home = root / "root"
        home.mkdir(exist_ok=True)
        passed = {name: environ[name] for name in _PASSED_ON if name in environ}
        own = {**passed, "HOME": str(home), "TMPDIR": place, "R2E_ROOT": str(root), MARK: mark}
        argv = [sys.executable, "-IS", str(write_bundle(Path(place) / "tools.zip")), str(root / "testbed")]
        try:
            async with piped(argv, environ=own, directory=place) as sandbox:
                yield sandbox
        finally:
            end_marked(mark)


def end_marked(mark: str) -> None:
    """Kills every process that was started with this mark. They may start more meanwhile: until none is left."""
    marked = f"{MARK}={mark}".encode()
    for _ in range(20):
        if not [pid for pid in pids() if killed(pid, lambda each: marked in environ_of(each))]:
            return
