"""Launches a request: the login gate, the job directory, then Slurm or this machine. Exit status 78 if the gate refuses."""

import os
import shlex
import tempfile
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.job_files import LAUNCHES
from skyrl_train.launch.request import Request, commands_of, job_dir_name, plan_of
from skyrl_train.launch.role import Role

if TYPE_CHECKING:
    from skyrl_train.launch.launch import LaunchPlan

REFUSED = 78
Say = Callable[[str], None]


def launch(request: Request, *, now: datetime, say: Say, must_stop: Callable[[], Callable[[], bool]]) -> int:
    """Submits the jobs, or with `local` runs them here until they end. `must_stop` begins to listen for signals."""
    plan, refusal = _gated(request) if request.has_gate else (plan_of(request), None)
    if refusal:
        for finding in refusal.splitlines():  # one line each, so that `diagnose` recognises it
            say(f"the login gate refused: {finding}")
        say("nothing was submitted")
        return REFUSED
    assert plan is not None
    from skyrl_train.launch import directory, partitions

    _refuse_missing(request, plan)
    if not request.local:
        partitions.refuse(plan.config, plan.roles)
    root = os.path.join(request.work_dir, LAUNCHES)
    new = not (request.job_dir and os.path.isdir(request.job_dir))
    job_dir = directory.adopt(request.job_dir) if request.job_dir else directory.create(root, now)
    with directory.unless_in_vain(job_dir, new=new):
        return _started(request, plan, job_dir, say=say, must_stop=must_stop)


def dry_run(request: Request) -> str:
    """Both batch scripts and the sbatch commands of a launch."""
    from skyrl_train.launch.launch import extra_files, planned, sbatch_options
    from skyrl_train.launch.render import node_script, script

    plan = plan_of(request)
    job_dir = job_dir_name(request, LAUNCHES)
    parts: list[str] = []
    submitted: dict[str, str] = {}
    for role, job in planned(plan, job_dir).items():
        path = os.path.join(job_dir, f"{role}.sh")
        line = shlex.join(["sbatch", "--parsable", *sbatch_options(role, submitted), path])
        parts.append(f"# {path}\n{script(job)}\n{line}\n\n")
        parts.append(f"# {os.path.join(job_dir, role.node_script)}\n{node_script(job)}\n")
        submitted[role] = f"{role.upper()}_JOB_ID"
    parts += [f"# {os.path.join(job_dir, name)}\n{text}\n" for name, text, _mode in extra_files(plan, job_dir)]
    return "".join(parts)


def _gated(request: Request) -> "tuple[LaunchPlan | None, str | None]":
    """The plan, and the doctor's refusal if there is one. If the plan fails too, the refusal comes first."""
    from skyrl_train.launch import gate

    with (
        tempfile.TemporaryDirectory(prefix="skyrl-gate-") as scratch,
        gate.login(request.target, gate.report_path("login", scratch), request.runtime_url) as doctor,
    ):
        try:
            plan = plan_of(request)
            _load_modules()
        except UsageError:
            refusal = doctor.refusal()
            if refusal is None:
                raise
            return None, refusal
        return plan, doctor.refusal()


def _load_modules() -> None:
    """Imports the modules that `sbatch` needs while the doctor's checks still run."""
    from skyrl_train.launch import commands, launch, local, partitions, render  # noqa: F401

    render.load()


def _refuse_missing(request: Request, plan: "LaunchPlan") -> None:
    """Refuses missing packages and data sets now, instead of on the node after the wait for a GPU."""
    from skyrl_train.config.tasks import refuse_without_tasks
    from skyrl_train.launch.needs import refuse_without_packages

    if Role.RUNTIME in plan.roles and not request.runtime_command:
        refuse_without_packages(Role.RUNTIME, plan.python)
    if Role.TRAINER in plan.roles and not (plan.prime or request.trainer_command):
        refuse_without_tasks(plan.config)
        refuse_without_packages(Role.TRAINER, plan.config.python.interpreter or plan.python)


def _started(
    request: Request, plan: "LaunchPlan", job_dir: str, *, say: Say, must_stop: Callable[[], Callable[[], bool]]
) -> int:
    from skyrl_train.launch import commands, local
    from skyrl_train.launch.launch import prepare, submit
    from skyrl_train.launch.slurm import SlurmError

    commands.write(job_dir, commands_of(request, plan, job_dir))
    paths = prepare(plan, job_dir)
    if request.local:
        say(f"job directory {job_dir}")
        return local.run(job_dir, paths, must_stop(), say)
    try:
        submit(job_dir, paths, say)
    except SlurmError as error:
        raise UsageError(str(error)) from None
    say(f"job directory {job_dir}")
    return 0
