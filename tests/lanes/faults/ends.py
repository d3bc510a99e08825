"""What a launch must show that ends by a fault: the finding by its name, in time, wherever its user would look."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lanes.e2e.whole import LIMIT_S, Whole
from skyrl_train.launch.directory import Ended, read_jobs
from skyrl_train.launch.role import Role
from skyrl_train.procfs import environ_of

END_S = 480.0
"""From the fault to the trainer's end. A runtime that was killed takes 5 s; the rest is for a machine that is busy."""


def words_of(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    return []


def processes(whole: Whole, *words: str) -> list[int]:
    """Those of the runtime's job whose command line holds all of these words."""
    mark = f"skyrl-{os.getuid()}-{read_jobs(str(whole.job)).get(Role.RUNTIME, 'none')}/"
    found = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in found if all(word in " ".join(words_of(pid)) for word in (mark, *words))]


def sandboxes(whole: Whole) -> list[int]:
    """The first process of every sandbox that runs: the child of its conmon."""
    monitors = set(processes(whole, "conmon"))
    return [pid for pid in _pids() if _parent(pid) in monitors]


def _pids() -> Iterator[int]:
    yield from (int(path.name) for path in Path("/proc").glob("[0-9]*"))


def _parent(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def kill(pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def server(whole: Whole) -> list[int]:
    """The runtime's server."""
    mark = str(whole.job)
    return [
        pid for pid in _pids() if words_of(pid)[-5:-1] == ["runtime", "serve", "--job-dir", mark] and environ_of(pid)
    ]


def root_of(whole: Whole) -> str:
    """The id of the cause that the doctor names afterwards."""
    line = [sys.executable, "-m", "skyrl_doctor", "diagnose", str(whole.job), "--format", "json"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=whole.at)
    assert done.stdout, done.stderr
    root = json.loads(done.stdout)["root"]
    return str(root["id"]) if root else f"none: {done.stdout}"


def ends_with(whole: Whole, id_: str, *, status: int = 1) -> Ended:
    """The trainer ends in time; diagnosis and summary name the finding."""
    ended = whole.end_of(Role.TRAINER, END_S)
    assert ended.status == status, f"{ended}\n{whole.logs()}"
    whole.end_of(Role.RUNTIME, END_S)
    whole.leaves_nothing()
    assert root_of(whole) == id_, f"{ended}\n{whole.logs()}"
    summary = (whole.job / "summary.md").read_text()
    assert id_ in summary, summary
    return ended


@contextmanager
def small_disk(at: Path, size: str) -> Iterator[Path]:
    at.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(at)], check=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)
