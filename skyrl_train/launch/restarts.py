"""The turns of a trainer that goes back into the queue: who sends it there, and the runtime that its next turn needs.

Slurm requeues a job by itself too: where a better one takes its place, where its node fails, where an admin says so. It
tells the job no more than by SIGTERM, but counts its restarts at once. A job that finds the count above its own has
another turn to come. A job whose node died finds nothing: its next turn takes away what it left.
"""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.job_files import KEY, READY, URL
from skyrl_train.launch import directory, slurm
from skyrl_train.launch.role import Role
from skyrl_train.launch.runtime_watch import ALIVE, soon

END_LIMIT_S = 90.0
"""How long a runtime of the turn before gets to take its sandboxes down."""
_STEP_S = 0.5
_OF_THIS_JOB = ("SLURM_", "SLURMD_", "SBATCH_", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ROCR_VISIBLE_DEVICES")


def number(environ: Mapping[str, str]) -> int:
    """Of this turn; the first is 0."""
    said = environ.get(slurm.RESTARTS, "")
    return int(said) if said.isascii() and said.isdigit() else 0


def is_over(told: slurm.State) -> bool:
    """Whether the job has had its time."""
    return told.limit_s > 0 and told.ran_s >= told.limit_s


def asked(job_id: str, state: Callable[[str], slurm.State] = soon) -> slurm.State:
    """What Slurm says of this job, while little time is left. Nothing where it does not answer."""
    try:
        return state(job_id)
    except slurm.SlurmError:
        return slurm.State("")


class Next(Enum):
    """Another turn of the trainer."""

    TO_ASK_FOR = 1
    COMING = 2


def next_turn(
    job_id: str, environ: Mapping[str, str], *, stopped: bool, warned: bool, ask: Callable[[str], slurm.State]
) -> Next | None:
    """Whether the job takes another: it was warned of its end, or Slurm has queued it again. Not once it is cancelled."""
    if not stopped:
        return Next.TO_ASK_FOR if warned else None
    told = ask(job_id)
    if told.restarts > number(environ):
        return Next.COMING
    return Next.TO_ASK_FOR if warned and is_over(told) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduler:
    """Slurm, as far as a new turn asks for it."""

    state: Callable[[str], slurm.State] = slurm.state
    submit: Callable[..., str] = slurm.submit
    cancel: Callable[[str], None] = slurm.cancel
    sleep: Callable[[float], None] = time.sleep


def new_runtime(
    job_dir: str, own_id: str, environ: Mapping[str, str], scheduler: Scheduler, stopped: Callable[[], bool]
) -> str:
    """Begins another turn: the id of the runtime that was started anew, or nothing where the one that runs will last."""
    jobs = directory.read_jobs(job_dir)
    runtime = jobs.get(Role.RUNTIME, "")
    if _lasts(job_dir, runtime, own_id, scheduler):
        return ""
    directory.write_jobs(job_dir, {**jobs, Role.RUNTIME: directory.NONE})  # the old one has nothing more to say
    try:
        if runtime and scheduler.state(runtime).state in ALIVE:
            scheduler.cancel(runtime)
        _wait_for_end(runtime, scheduler, stopped)
        if stopped():
            return ""
        for name in (READY, URL, KEY, directory.ended_name(Role.RUNTIME)):
            directory.forget(job_dir, name)
        script = os.path.join(job_dir, f"{Role.RUNTIME}.sh")
        jobs[Role.RUNTIME] = scheduler.submit(script, environ=_of_nobody(environ))
    except slurm.SlurmError as error:
        raise TrainError(f"this turn needs a runtime of its own, which could not be started: {error}") from None
    directory.write_jobs(job_dir, jobs)
    return jobs[Role.RUNTIME]


def _lasts(job_dir: str, runtime: str, own_id: str, scheduler: Scheduler) -> bool:
    """Whether the runtime of the turn before is there, and will be until this turn's end."""
    if not runtime or directory.read_ended(job_dir, Role.RUNTIME) is not None:
        return False
    theirs, ours = scheduler.state(runtime), scheduler.state(own_id)
    return theirs.state == "RUNNING" and theirs.left_s >= ours.left_s


def _wait_for_end(runtime: str, scheduler: Scheduler, stopped: Callable[[], bool]) -> None:
    """What the old one tells and withdraws on its way out would be taken for the new one's."""
    for _ in range(int(END_LIMIT_S / _STEP_S)):
        if not runtime or stopped() or scheduler.state(runtime).state not in ALIVE:
            return
        scheduler.sleep(_STEP_S)
    raise TrainError(f"the runtime of the turn before, job {runtime}, did not end within {END_LIMIT_S:g} s")


def _of_nobody(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what is this job's own: the new job is another, on another node."""
    return {
        name: value for name, value in environ.items() if name in slurm.OF_THE_SITE or not name.startswith(_OF_THIS_JOB)
    }
