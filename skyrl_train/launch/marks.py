"""Finds and ends the processes of a launch by the variables of their environment, in whatever group they are."""

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping, Sequence

from skyrl_train.process import wait_until
from skyrl_train.procfs import environ_of, lives, others

MARK, ROLE_MARK = "SKYRL_JOB_DIR", "SKYRL_JOB_ROLE"
"""Every process of a launch has these in its environment: one that left its group is found by them."""
_JOB = "SLURM_JOB_ID"


def end_marked(marks: Mapping[str, str], grace_s: float) -> list[int]:
    """Ends every process with these marks on this node but the caller and its parents; their ids."""
    found = marked(marks)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, number)
        if wait_until(lambda: not any(map(lives, found)), grace_s):
            break
    return found


def marked(marks: Mapping[str, str]) -> list[int]:
    """This user's processes with these variables in their environment. A job that was submitted from one of them has them
    too: what bears the id of another job than ours is that job's."""
    wanted = {f"{name}={value}".encode() for name, value in marks.items()}
    own = f"{_JOB}={os.environ.get(_JOB, '')}".encode()
    return [pid for pid, environ in _others() if wanted <= set(environ) and not _of_another(environ, own)]


def _of_another(environ: Sequence[bytes], own: bytes) -> bool:
    return any(word.startswith(f"{_JOB}=".encode()) and word != own for word in environ)


def of_local_launches() -> list[int]:
    """This user's processes of any launch on this node that is no job of Slurm."""
    return [pid for pid, environ in _others() if _names(environ, MARK) and not _names(environ, _JOB)]


def _names(environ: Sequence[bytes], variable: str) -> bool:
    return any(word.startswith(f"{variable}=".encode()) for word in environ)


def _others() -> Iterator[tuple[int, list[bytes]]]:
    yield from ((pid, environ_of(pid)) for pid in others())
