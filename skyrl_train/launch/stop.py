"""Cancels the jobs of a launch, unless an id now belongs to another job."""

import os
from collections.abc import Callable, Mapping

from skyrl_train.launch.runtime_watch import ALIVE
from skyrl_train.launch.slurm import JobState, SlurmError


def stop(
    jobs: Mapping[str, str], job_dir: str, state: Callable[[str], JobState], cancel: Callable[..., None]
) -> dict[str, str]:
    """Cancels the jobs in one call, so that neither outlives the other; the outcome of each.

    SlurmError if a job runs another script: ids are reused, and directories are copied. Then nothing is cancelled.
    """
    alive = [role for role, job_id in jobs.items() if _is_ours(job_id, role, job_dir, state(job_id))]
    if alive:
        cancel(*(jobs[role] for role in alive))
    return {role: "cancelled" if role in alive else "had already ended" for role in jobs}


def _is_ours(job_id: str, role: str, job_dir: str, answer: JobState) -> bool:
    """Whether the job lives. SlurmError if it is another's."""
    script = os.path.join(job_dir, f"{role}.sh")
    if answer.state not in ALIVE:
        return False
    if answer.script and os.path.realpath(answer.script) != os.path.realpath(script):
        raise SlurmError(
            f"job {job_id} does not belong to {job_dir}: it runs {answer.script}, expected {script}; nothing was cancelled"
        )
    return True
