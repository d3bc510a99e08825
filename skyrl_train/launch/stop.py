"""Cancels a job of a launch, unless its id now belongs to another job."""

import os
from collections.abc import Callable

from skyrl_train.launch.runtime_watch import ALIVE
from skyrl_train.launch.slurm import JobState, SlurmError


def stop(job_id: str, role: str, job_dir: str, state: Callable[[str], JobState], cancel: Callable[[str], None]) -> str:
    """Cancels the job; the outcome. SlurmError if the job runs another script: ids are reused, and directories are copied."""
    answer = state(job_id)
    if answer.state not in ALIVE:
        return "had already ended"
    script = os.path.join(job_dir, f"{role}.sh")
    if answer.script and os.path.realpath(answer.script) != os.path.realpath(script):
        raise SlurmError(
            f"job {job_id} does not belong to {job_dir}: it runs {answer.script}, expected {script}; nothing was cancelled"
        )
    cancel(job_id)
    return "cancelled"
