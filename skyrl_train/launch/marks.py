"""Finds and ends the processes of a launch by the variables in their environment, whatever their process group."""

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping, Sequence

from skyrl_train.process import wait_until
from skyrl_train.procfs import environ_of, lives, others

MARK, ROLE_MARK = "SKYRL_JOB_DIR", "SKYRL_JOB_ROLE"
"""Set in the environment of every process of a launch, so that one that left its process group is found."""
_JOB = "SLURM_JOB_ID"


def end_marked(marks: Mapping[str, str], grace_s: float) -> list[int]:
    """Ends every process with these marks on this node except the caller and its parents; returns their ids."""
    found = marked(marks)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, number)
        if wait_until(lambda: not any(map(lives, found)), grace_s):
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


def _others() -> Iterator[tuple[int, list[bytes]]]:
    yield from ((pid, environ_of(pid)) for pid in others())
