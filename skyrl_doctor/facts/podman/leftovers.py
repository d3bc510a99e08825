"""Containers that outlived the job that started them, in the stores of jobs that are over."""

import re
from collections.abc import Iterator

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.podman.processes import Process, parse_pid, process
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.machine.paths import text_or_none
from skyrl_train.node.podman_store import LOCAL_BASE

_ENDED = re.compile(r"Invalid job id", re.IGNORECASE)
GOING = frozenset(
    {"RUNNING", "COMPLETING", "SUSPENDED", "CONFIGURING", "STOPPED", "RESIZING", "SIGNALING", "STAGE_OUT"}
)
"""Slurm's words for a job that still has its node."""
ANSWER_S = 4.0


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


@probe(limit_s=10.0)
def leftovers(machine: Machine, podman: Podman) -> Leftovers:  # noqa: ARG001 -- without podman there are no containers
    """Looks into the stores of this user's other jobs on this node for containers that still run."""
    uid, own = machine.identity().uid, machine.environ().get("SLURM_JOB_ID", "")
    names = unless_absent(lambda: machine.listdir(LOCAL_BASE)) or ()
    jobs = {name: job for name in names if (job := job_of(name, uid)) is not None and job != own}
    return Leftovers(stores=tuple(_stores(machine, uid, jobs)))


def _stores(machine: Machine, uid: int, jobs: dict[str, str]) -> Iterator[ForeignStore]:
    for name, job in jobs.items():
        path = f"{LOCAL_BASE}/{name}/podman"
        try:
            alive = tuple(_alive(machine, uid, f"{path}/run/containers/overlay-containers"))
        except CouldNotLook as error:
            yield ForeignStore(path=path, job_id=job, alive=(), over=None, why=str(error))
            continue
        if alive:
            over, why = _is_over(machine, job)
            yield ForeignStore(path=path, job_id=job, alive=alive, over=over, why=why)


def _alive(machine: Machine, uid: int, directory: str) -> Iterator[Process]:
    for name in unless_absent(lambda: machine.listdir(directory)) or ():
        text = text_or_none(machine, f"{directory}/{name}/userdata/conmon.pid", limit_bytes=64)
        pid = parse_pid(text) if text is not None else None
        found = process(machine, pid) if pid is not None else None
        if found is not None and not found.zombie and found.uid == uid and found.name.startswith("conmon"):
            yield found


def _is_over(machine: Machine, job: str) -> tuple[bool | None, str]:
    said = machine.run(["squeue", "--noheader", "--jobs", job, "--format", "%T"], limit_s=ANSWER_S)
    over = is_over(said.rc, said.out, said.err)
    return over, said.why if over is None else ""
