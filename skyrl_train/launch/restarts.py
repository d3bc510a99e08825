"""Restarts of a requeued trainer: whether one comes, and the runtime that it needs.

Slurm also requeues a job by itself: for preemption, after a node failure, or on an admin's request. The job then gets only
SIGTERM, but Slurm counts the restart at once. A job whose own restart count is below Slurm's will be restarted. A job
whose node died learns nothing; after the restart it removes what it left.
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
from skyrl_train.launch.runtime_watch import ALIVE, state_within_limit

END_LIMIT_S = 90.0
"""Time for the old runtime to end its sandboxes."""
_STEP_S = 0.5
_OF_THIS_JOB = ("SLURM_", "SLURMD_", "SBATCH_", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ROCR_VISIBLE_DEVICES")


def count(environ: Mapping[str, str]) -> int:
    """How often the job was restarted; 0 in the first run."""
    text = environ.get(slurm.RESTARTS, "")
    return int(text) if text.isascii() and text.isdigit() else 0


def has_timed_out(answer: slurm.JobState) -> bool:
    """Whether the job has reached its time limit."""
    return answer.limit_s > 0 and answer.ran_s >= answer.limit_s


def quick_state(job_id: str, state: Callable[[str], slurm.JobState] = state_within_limit) -> slurm.JobState:
    """The state of a job, with a short time limit; an empty state if Slurm does not answer."""
    try:
        return state(job_id)
    except slurm.SlurmError:
        return slurm.JobState("")


class Restart(Enum):
    """How the trainer will be restarted."""

    REQUEST = 1
    SCHEDULED = 2


def next_restart(
    job_id: str, environ: Mapping[str, str], *, stopped: bool, warned: bool, ask: Callable[[str], slurm.JobState]
) -> Restart | None:
    """Whether the job is restarted: it was warned before its time limit, or Slurm requeued it. None if it was cancelled."""
    if not stopped:
        return Restart.REQUEST if warned else None
    answer = ask(job_id)
    if answer.restarts > count(environ):
        return Restart.SCHEDULED
    return Restart.REQUEST if warned and has_timed_out(answer) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduler:
    """The Slurm calls that a restart needs."""

    state: Callable[[str], slurm.JobState] = slurm.state
    submit: Callable[..., str] = slurm.submit
    cancel: Callable[[str], None] = slurm.cancel
    sleep: Callable[[float], None] = time.sleep


def new_runtime(
    job_dir: str, own_id: str, environ: Mapping[str, str], scheduler: Scheduler, stopped: Callable[[], bool]
) -> str:
    """Starts a new runtime after a restart; its id, or an empty text if the running one lasts long enough."""
    jobs = directory.read_jobs(job_dir)
    runtime = jobs.get(Role.RUNTIME, "")
    if _outlasts(job_dir, runtime, own_id, scheduler):
        return ""
    directory.write_jobs(job_dir, {**jobs, Role.RUNTIME: directory.NONE})  # the old runtime's reports no longer count
    try:
        if runtime and scheduler.state(runtime).state in ALIVE:
            scheduler.cancel(runtime)
        _wait_for_end(runtime, scheduler, stopped)
        if stopped():
            return ""
        for name in (READY, URL, KEY, directory.ended_name(Role.RUNTIME)):
            directory.forget(job_dir, name)
        script = os.path.join(job_dir, f"{Role.RUNTIME}.sh")
        jobs[Role.RUNTIME] = scheduler.submit(script, environ=_without_job_variables(environ))
    except slurm.SlurmError as error:
        raise TrainError(f"the restarted trainer needs a new runtime, but starting it failed: {error}") from None
    directory.write_jobs(job_dir, jobs)
    return jobs[Role.RUNTIME]


def _outlasts(job_dir: str, runtime: str, own_id: str, scheduler: Scheduler) -> bool:
    """Whether the runtime runs and its time limit comes after this job's."""
    if not runtime or directory.read_ended(job_dir, Role.RUNTIME) is not None:
        return False
    theirs, ours = scheduler.state(runtime), scheduler.state(own_id)
    return theirs.state == "RUNNING" and theirs.left_s >= ours.left_s


def _wait_for_end(runtime: str, scheduler: Scheduler, stopped: Callable[[], bool]) -> None:
    """Waits for the old runtime: files that it writes or removes at its end would be taken for the new one's."""
    for _ in range(int(END_LIMIT_S / _STEP_S)):
        if not runtime or stopped() or scheduler.state(runtime).state not in ALIVE:
            return
        scheduler.sleep(_STEP_S)
    raise TrainError(f"the runtime from before the restart, job {runtime}, did not end within {END_LIMIT_S:g} s")


def _without_job_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without this job's own variables, for a new job on another node."""
    return {
        name: value for name, value in environ.items() if name in slurm.OF_THE_SITE or not name.startswith(_OF_THIS_JOB)
    }
