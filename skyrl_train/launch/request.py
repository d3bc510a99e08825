"""The request of a launch as the user makes it, and the plan for it. Importing this module loads no pydantic."""

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skyrl_train.contracts import bounded
from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch.role import Role

if TYPE_CHECKING:
    from skyrl_train.config.run import RunConfig
    from skyrl_train.launch.commands import Commands
    from skyrl_train.launch.launch import LaunchPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The options of one launch. Relative paths start at `work_dir`.

    `runtime_only`, `with_runtime` and `runtime_url` choose the jobs; the commands replace what the jobs run.
    """

    target: str
    work_dir: str
    runtime_only: bool = False
    with_runtime: bool = False
    runtime_url: str | None = None
    local: bool = False
    job_dir: str | None = None
    has_gate: bool = True
    runtime_command: tuple[str, ...] = ()
    trainer_command: tuple[str, ...] = ()


def plan_of(request: Request, *, has_rules: bool = True) -> "LaunchPlan":
    """The configuration of the target, and the jobs to start. UsageError if it cannot be launched.

    Without rules, a configuration that only the trainer's rules refuse has a plan too, which a dry run prints.
    """
    from skyrl_train.config.load import ConfigError, parse, parse_types
    from skyrl_train.launch.launch import LaunchPlan
    from skyrl_train.launch.prime import prime_run
    from skyrl_train.launch.sbatch_variables import given

    try:
        text = bounded.read_text(request.target)
        prime = prime_run(text, cwd=request.work_dir)
        config = prime.config if prime else (parse if has_rules else parse_types)(text)
    except OSError as error:
        raise UsageError(f"{request.target} cannot be read: {error.strerror}") from None
    except (ConfigError, UsageError, ValueError) as error:
        reasons = str(error).replace("\n", "; and ")
        raise UsageError(f"{request.target} cannot be launched: {reasons}") from None
    _check(request, config)
    return LaunchPlan(
        config=config,
        config_text=text,
        work_dir=prime.project_dir if prime else request.work_dir,
        python=sys.executable,
        roles=_roles(request, has_own=prime is None),
        prime=prime,
        variables={} if request.local else given(os.environ),
    )


def commands_of(request: Request, plan: "LaunchPlan", job_dir: str) -> "Commands":
    """The commands of both jobs, and the locations of their logs and of the runtime."""
    import dataclasses

    from skyrl_train.launch.commands import NO_RUNTIME, default

    made = default(plan.python, plan.config, job_dir, request.runtime_url)
    if plan.prime:
        has_none = Role.RUNTIME not in plan.roles and request.runtime_url is None
        url = NO_RUNTIME if has_none else request.runtime_url
        made = dataclasses.replace(made, trainer=plan.prime.payload(job_dir), logs=(plan.prime.logs,), runtime_url=url)
    return dataclasses.replace(
        made,
        runtime=request.runtime_command or made.runtime,
        trainer=request.trainer_command or made.trainer,
        work_dir=plan.work_dir,
    )


def job_dir_name(request: Request, root: str) -> str:
    """The job directory of a dry run, which creates none."""
    return os.path.abspath(request.job_dir or os.path.join(root, "TIMESTAMP_launch"))


def _check(request: Request, config: "RunConfig") -> None:
    url, named = request.runtime_url, config.sandbox.runtime_url
    if url is not None and named is not None and named.rstrip("/") != url.rstrip("/"):
        raise UsageError(
            f"--runtime-url is {url}, but {request.target} has sandbox.runtime_url = {named}; use one of the two"
        )
    if request.local and config.slurm.nodes > 1:
        raise UsageError(
            f"--local uses one machine, but slurm.nodes is {config.slurm.nodes}; set slurm.nodes = 1 or launch with Slurm"
        )


def _roles(request: Request, *, has_own: bool) -> tuple[Role, ...]:
    """The jobs to start. A prime-rl run gets a sandbox runtime only with --with-runtime."""
    if request.runtime_only and not has_own:
        raise UsageError("a prime-rl TOML describes no sandbox runtime; pass a RunConfig with --runtime-only")
    if request.runtime_only:
        return (Role.RUNTIME,)
    is_alone = request.runtime_url is not None or not (has_own or request.with_runtime)
    return (Role.TRAINER,) if is_alone else tuple(Role)
