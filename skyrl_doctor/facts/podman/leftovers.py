"""Containers that outlived the job that started them, in the stores of jobs that are over."""

import re

from skyrl_doctor.core.record import record
from skyrl_doctor.facts.podman.processes import Process

_ENDED = re.compile(r"Invalid job id", re.IGNORECASE)
GOING = frozenset(
    {"RUNNING", "COMPLETING", "SUSPENDED", "CONFIGURING", "STOPPED", "RESIZING", "SIGNALING", "STAGE_OUT"}
)
"""Slurm's words for a job that still has its node."""


@record(kw_only=True)
class ForeignStore:
    """A store of another job of this user, with the processes that keep its containers up. `over`: whether that job has
    ended; None where Slurm did not say, for the reason in `why`.
    """

    path: str
    job_id: str
    alive: tuple[Process, ...]
    over: bool | None
    why: str = ""


@record(kw_only=True)
class Leftovers:
    stores: tuple[ForeignStore, ...] = ()


def is_over(rc: int | None, out: str, err: str) -> bool | None:
    """What `squeue --noheader --jobs ID --format %T` says of a job; None where it says neither."""
    if rc == 0:
        states = out.split()
        return not any(state in GOING or state == "PENDING" for state in states)
    return True if _ENDED.search(err) else None


def job_of(name: str, uid: int) -> str | None:
    """The job of a store's directory: `skyrl-1000-4711` -> 4711. None for directories of others."""
    match = re.fullmatch(rf"skyrl-{uid}-(\d{{1,12}}(?:_\d+)?)", name)
    return match[1] if match else None
