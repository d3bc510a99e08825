"""Containers that still run in the stores of this user's other jobs."""

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
ACTIVE_STATES = frozenset(
    {"RUNNING", "COMPLETING", "SUSPENDED", "CONFIGURING", "STOPPED", "RESIZING", "SIGNALING", "STAGE_OUT"}
)
"""Slurm's states of a job that still has its node."""
_WAITING_STATES = frozenset(
    {"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT", "EXPEDITING"}
)
_ENDED_STATES = frozenset(
    {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY"}
    | {"LAUNCH_FAILED", "RECONFIG_FAIL", "REVOKED"}
)
ANSWER_S = 4.0


@record(kw_only=True)
class ForeignStore:
    """The store of another job of this user. `alive` are the processes of its running containers. `over`: whether that job
    has ended; None if that is unknown, for the reason in `why`.
    """

    path: str
    job_id: str
    alive: tuple[Process, ...]
    over: bool | None
    why: str = ""


@record(kw_only=True)
class Leftovers:
    stores: tuple[ForeignStore, ...] = ()


def has_ended(rc: int | None, out: str, err: str) -> bool | None:
    """Whether the job has ended, from `squeue --noheader --jobs ID --format %T`; None if the output does not tell."""
    if rc == 0:
        states = set(out.split())
        if states & (ACTIVE_STATES | _WAITING_STATES):
            return False
        return True if states <= _ENDED_STATES else None
    return True if _ENDED.search(err) else None


def job_id_of(name: str, uid: int) -> str | None:
    """The job id in the name of a store's directory: `skyrl-1000-4711` -> 4711. None for other names."""
    match = re.fullmatch(rf"skyrl-{uid}-(\d{{1,12}}(?:_\d+)?)", name)
    return match[1] if match else None


@probe(limit_s=10.0)
def leftovers(machine: Machine, podman: Podman) -> Leftovers:  # noqa: ARG001 -- without podman there are no containers
    """Reads the stores of this user's other jobs on this node."""
    uid, own = machine.identity().uid, machine.environ().get("SLURM_JOB_ID", "")
    names = unless_absent(lambda: machine.listdir(LOCAL_BASE)) or ()
    jobs = {name: job for name in names if (job := job_id_of(name, uid)) is not None and job != own}
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
            over, why = _has_ended(machine, job)
            yield ForeignStore(path=path, job_id=job, alive=alive, over=over, why=why)


def _alive(machine: Machine, uid: int, directory: str) -> Iterator[Process]:
    for name in unless_absent(lambda: machine.listdir(directory)) or ():
        text = text_or_none(machine, f"{directory}/{name}/userdata/conmon.pid", limit_bytes=64)
        pid = parse_pid(text) if text is not None else None
        found = process(machine, pid) if pid is not None else None
        if found is not None and not found.zombie and found.uid == uid and found.name.startswith("conmon"):
            yield found


def _has_ended(machine: Machine, job: str) -> tuple[bool | None, str]:
    answer = machine.run(["squeue", "--noheader", "--jobs", job, "--format", "%T"], limit_s=ANSWER_S)
    over = has_ended(answer.rc, answer.out, answer.err)
    return over, answer.why if over is None else ""
