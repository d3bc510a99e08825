"""Starts the command of a job in its own process group, and ends the group and every process that left it."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from skyrl_train.processes import environ_of, lives, others, pids, stat_of

MARK, ROLE_MARK = "SKYRL_JOB_DIR", "SKYRL_JOB_ROLE"
"""Set in the environment of every process of a launch, so that one that left its process group is found."""
STEP_S = 0.1
_JOB = "SLURM_JOB_ID"


@contextmanager
def started(words: Sequence[str], environ: Mapping[str, str], grace_s: float) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a command in its own process group; the group is ended when the context ends."""
    child = subprocess.Popen(words, env=dict(environ), stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        yield child
    finally:
        end(child, grace_s)


def end(child: subprocess.Popen[bytes], grace_s: float) -> None:
    """Sends SIGTERM to the group, and SIGKILL to the rest of it after the grace period."""
    _signal_group(child.pid, signal.SIGTERM)
    wait(lambda: child.poll() is not None and not _group_lives(child.pid), grace_s)
    _signal_group(child.pid, signal.SIGKILL)
    child.wait()


def end_marked(marks: Mapping[str, str], grace_s: float) -> list[int]:
    """Ends every process with these marks on this node except the caller and its parents; returns their ids."""
    found = marked(marks)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, number)
        if wait(lambda: not any(map(lives, found)), grace_s):
            break
    return found


def marked(marks: Mapping[str, str]) -> list[int]:
    """This user's processes with these variables in their environment.

    A job submitted from one of them inherits the variables, so processes with another job's id are left out."""
    expected = {f"{name}={value}".encode() for name, value in marks.items()}
    own = f"{_JOB}={os.environ.get(_JOB, '')}".encode()
    return [pid for pid, environ in _others() if expected <= set(environ) and not _is_of_other_job(environ, own)]


def _is_of_other_job(environ: Sequence[bytes], own: bytes) -> bool:
    return any(word.startswith(f"{_JOB}=".encode()) and word != own for word in environ)


def of_local_launches() -> list[int]:
    """This user's processes of all launches on this node that run without Slurm."""
    return [pid for pid, environ in _others() if _sets(environ, MARK) and not _sets(environ, _JOB)]


def _sets(environ: Sequence[bytes], variable: str) -> bool:
    return any(word.startswith(f"{variable}=".encode()) for word in environ)


def wait(condition: Callable[[], bool], limit_s: float) -> bool:
    """Whether the condition held within the limit."""
    end_at = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() >= end_at:
            return False
        time.sleep(STEP_S)
    return True


def _group_lives(group: int) -> bool:
    return any(_group_of(pid) == group and lives(pid) for pid in pids())


def _group_of(pid: int) -> int:
    fields = stat_of(pid)
    return int(fields[2]) if len(fields) > 2 else -1


def _others() -> Iterator[tuple[int, list[bytes]]]:
    yield from ((pid, environ_of(pid)) for pid in others())


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
