"""Writes and submits the two jobs of a launch. If a step fails, submitted jobs are cancelled."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from skyrl_train.config.load import resolved
from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.job_files import PRIME_CONFIG, PRIME_SCRIPT
from skyrl_train.launch import directory, slurm
from skyrl_train.launch.jobs import Job, jobs
from skyrl_train.launch.prime import PrimeRun
from skyrl_train.launch.render import node_script, prime_script, script
from skyrl_train.launch.role import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """The configuration of a launch, and the jobs to start."""

    config: RunConfig
    config_text: str
    work_dir: str
    python: str
    roles: tuple[Role, ...] = tuple(Role)
    prime: PrimeRun | None = None
    """Set if the run uses prime-rl."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Those of sbatch."""

    @property
    def trainer_options(self) -> tuple[str, ...] | None:
        """Options of the trainer's job that the configuration does not give; None if it gives them all."""
        return self.prime.options if self.prime else None


def planned(plan: LaunchPlan, job_dir: str) -> dict[Role, Job]:
    """The jobs of this launch, by role."""
    made = jobs(
        plan.config,
        job_dir=job_dir,
        work_dir=plan.work_dir,
        python=plan.python,
        trainer=plan.trainer_options,
        variables=plan.variables,
    )
    return {job.role: job for job in made if job.role in plan.roles}


def prepare(plan: LaunchPlan, job_dir: str) -> dict[Role, str]:
    """Writes the files that the jobs read; returns the paths of their scripts."""
    directory.write(job_dir, directory.CONFIG, plan.config_text)
    directory.write(job_dir, directory.RESOLVED, resolved(plan.config))
    for name, text, mode in extra_files(plan, job_dir):
        directory.write(job_dir, name, text, mode=mode)
    paths = {}
    for role, job in planned(plan, job_dir).items():
        directory.write(job_dir, f"{role}.sh", script(job), mode=0o755)
        directory.write(job_dir, role.node_script, node_script(job), mode=0o755)
        paths[role] = os.path.join(job_dir, f"{role}.sh")
    return paths


def extra_files(plan: LaunchPlan, job_dir: str) -> Iterator[tuple[str, str, int]]:
    """Name, text and mode of the files that only a prime-rl run needs."""
    if plan.prime:
        yield PRIME_CONFIG, plan.prime.text, 0o644
        yield PRIME_SCRIPT, prime_script(plan.prime, job_dir), 0o755


def sbatch_options(role: Role, submitted: dict[str, str]) -> tuple[str, ...]:
    """Options that make the trainer wait for the start (not the end) of the runtime's job."""
    runtime = submitted.get(Role.RUNTIME)
    return (f"--dependency=after:{runtime}", "--kill-on-invalid-dep=yes") if role is Role.TRAINER and runtime else ()


def submit(job_dir: str, paths: dict[Role, str], say: Callable[[str], None]) -> dict[str, str]:
    """Submits the runtime's job and then the trainer's; each id is written before the next job is submitted."""
    submitted: dict[str, str] = {}
    try:
        for role, path in paths.items():
            submitted[role] = slurm.submit(path, *sbatch_options(role, submitted))
            directory.write_jobs(job_dir, submitted)
            say(f"submitted {role} as job {submitted[role]}")
    except BaseException as error:
        if submitted:
            _cancel_submitted(job_dir, submitted, error, say)
        raise
    return submitted


def _cancel_submitted(
    job_dir: str, submitted: dict[str, str], error: BaseException, say: Callable[[str], None]
) -> None:
    """Cancels the submitted jobs. The reason is written first, so that the cancelled runtime can report it."""
    ids = ", ".join(submitted.values())
    try:
        why = f"never submitted: {str(error) or type(error).__name__}"
        directory.write_jobs(job_dir, submitted)
        directory.write_ended(job_dir, Role.TRAINER, directory.Ended(1, why, time.time()))
    except TrainError as worse:
        say(str(worse))
    try:
        slurm.cancel(*submitted.values())
        say(f"cancelled job {ids}; {job_dir} records it")
    except TrainError as worse:
        say(
            f"job {ids} still exists, because cancelling it failed: {worse} (the launch failed with: {error}). Run scancel {ids.replace(',', '')}."
        )
