"""Ends a job of a launch, and no other that has come to its number."""

import os
from collections.abc import Callable

from skyrl_train.launch.runtime_watch import ALIVE
from skyrl_train.launch.slurm import SlurmError, State


def stop(job_id: str, role: str, job_dir: str, state: Callable[[str], State], cancel: Callable[[str], None]) -> str:
    """What became of it. SlurmError where the job runs another script: Slurm starts its numbers anew, and files are copied."""
    told = state(job_id)
    if told.state not in ALIVE:
        return "had ended"
    script = os.path.join(job_dir, f"{role}.sh")
    if told.script and os.path.realpath(told.script) != os.path.realpath(script):
        raise SlurmError(
            f"job {job_id} is none of {job_dir}: it runs {told.script}; wanted {script}; nothing was cancelled"
        )
    cancel(job_id)
    return "cancelled"
