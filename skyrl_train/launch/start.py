"""Launches a request: the login gate, the job directory, then Slurm or this machine. Exit status 78 if the gate refuses."""

import contextlib
import os
import shlex
import tempfile
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.job_files import LAUNCHES
from skyrl_train.launch.request import Request, commands_of, job_dir_name, plan_of

if TYPE_CHECKING:
    from skyrl_train.launch.launch import LaunchPlan

REFUSED = 78
Say = Callable[[str], None]


def launch(request: Request, *, now: datetime, say: Say, must_stop: Callable[[], Callable[[], bool]]) -> int:
    """Submits the jobs, or with `local` runs them here until they end. `must_stop` begins to listen for signals."""
    plan = _checked(request, say)
    if plan is None:
        return REFUSED
    from skyrl_train.launch import directory

    root = os.path.join(request.work_dir, LAUNCHES)
    new = not (request.job_dir and os.path.isdir(request.job_dir))
    job_dir = directory.adopt(request.job_dir) if request.job_dir else directory.create(root, now)
    with directory.unless_in_vain(job_dir, new=new):
        return _started(request, plan, job_dir, say=say, must_stop=must_stop)


def dry_run(request: Request, *, say: Say, show: Callable[[str], object]) -> int:
    """Shows the scripts and commands of a launch, then all that the launch would refuse; its exit status."""
    with contextlib.suppress(UsageError):  # the same is refused below
        show(_scripts(request, plan_of(request, has_rules=False)))
    return REFUSED if _checked(request, say) is None else 0


def _checked(request: Request, say: Say) -> "LaunchPlan | None":
    """The plan; None if the doctor refused it. UsageError if something else is wrong. All reasons are said in one round."""
    plan, refusal, problems = _gated(request, say) if request.has_gate else _ungated(request, say)
    for finding in refusal or ():  # one line each, so that `diagnose` recognises it
        say(f"the login gate refused: {finding}")
    if not refusal and problems:
        for problem in problems[:-1]:
            say(problem)
        raise UsageError(problems[-1])
    if refusal:
        for problem in problems:
            say(problem)
        say("nothing was submitted")
    return None if refusal else plan


def _planned(request: Request, say: Say) -> "tuple[LaunchPlan | None, str, list[str]]":
    """The plan, why the rules refuse it, and every other reason against it."""
    from skyrl_train.launch.refusals import refusals

    plan, broken = None, ""
    try:
        plan = plan_of(request)
    except UsageError as error:
        broken = str(error)
    try:
        return plan, broken, list(refusals(request, plan or plan_of(request, has_rules=False), say))
    except UsageError:  # it is no configuration at all
        return None, broken, []


def _ungated(request: Request, say: Say) -> "tuple[LaunchPlan | None, None, list[str]]":
    plan, broken, problems = _planned(request, say)
    return plan, None, [*([broken] if broken else []), *problems]


def _scripts(request: Request, plan: "LaunchPlan") -> str:
    """Both batch scripts and the sbatch commands of a launch."""
    from skyrl_train.launch.launch import extra_files, planned, sbatch_options
    from skyrl_train.launch.render import node_script, script

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


def _gated(request: Request, say: Say) -> "tuple[LaunchPlan | None, tuple[str, ...] | None, list[str]]":
    """The plan, the doctor's refusal if there is one, and our own reasons.

    What the rules refuse is left to the doctor, which explains it better, if it says anything.
    """
    from skyrl_train.launch import gate

    with (
        tempfile.TemporaryDirectory(prefix="skyrl-gate-") as scratch,
        gate.login(request.target, gate.report_path("login", scratch), request.runtime_url) as doctor,
    ):
        _load_modules()
        plan, broken, problems = _planned(request, say)
        own = [*([broken] if broken else []), *problems]
        try:
            refusal = doctor.refusal()
        except UsageError as error:  # it failed, or took too long
            return None, None, [*own, str(error)]
    if refusal is None:
        return plan, None, own
    return plan, refusal or (gate.NO_REASON,), problems if refusal else own


def _load_modules() -> None:
    """Imports the modules that `sbatch` needs while the doctor's checks still run."""
    from skyrl_train.launch import commands, launch, local, partitions, render  # noqa: F401

    with contextlib.suppress(UsageError):  # refused below
        render.load()


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
