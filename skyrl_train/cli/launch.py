"""skyrl-train launch: passes the login gate, then submits two Slurm jobs. Exit status 78 if the gate refuses."""

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from skyrl_train.launch.commands import Commands
    from skyrl_train.launch.launch import Request
    from skyrl_train.launch.role import Role

REFUSED = 78


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="a RunConfig TOML or a prime-rl TOML")
    parser.add_argument(
        "--dry-run", action="store_true", help="print both batch scripts and the sbatch commands; submit nothing"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--runtime-only", action="store_true", help="start only the sandbox runtime")
    which.add_argument(
        "--with-runtime", action="store_true", help="start a sandbox runtime for a prime-rl run as well (default: none)"
    )
    which.add_argument("--skip-runtime", action="store_true", help="start only the trainer; needs --runtime-url")
    parser.add_argument("--runtime-url", metavar="U", help="address of a runtime that is already running")
    parser.add_argument(
        "--local", action="store_true", help="run both on this machine as child processes, without Slurm"
    )
    parser.add_argument("--job-dir", metavar="DIR", help="job directory (default: a new one in .skyrl_jobs)")
    parser.add_argument("--no-gate", action="store_true", help="submit without the login gate; this is logged")
    parser.add_argument(
        "--runtime-command", metavar="CMD", help="command of the runtime job (default: skyrl-train runtime serve)"
    )
    parser.add_argument(
        "--trainer-command", metavar="CMD", help="command of the trainer job (default: skyrl-train train)"
    )


def run(args: argparse.Namespace) -> int:
    import os

    if args.dry_run:
        return _dry_run(_request(args), args)
    request, refused = (_request(args), None) if args.no_gate else _gated_request(args)
    if refused:
        for finding in refused.splitlines():  # one line each, so that `diagnose` recognises it
            _say(f"the login gate refused: {finding}")
        _say("nothing was submitted")
        return REFUSED
    assert request is not None
    from datetime import datetime

    from skyrl_train.launch import directory, partitions

    _refuse_early(request, args)
    if not args.local:
        partitions.refuse(request.config, request.roles)
    root = os.path.join(os.getcwd(), directory.ROOT)
    new = not (args.job_dir and os.path.isdir(args.job_dir))
    job_dir = directory.adopt(args.job_dir) if args.job_dir else directory.create(root, datetime.now())  # noqa: DTZ005 -- a name for the user's own clock
    with directory.unless_in_vain(job_dir, new=new):
        return _started(request, args, job_dir)


def _refuse_early(request: "Request", args: argparse.Namespace) -> None:
    """Refuses missing packages and data sets now, instead of on the node after the wait for a GPU."""
    from skyrl_train.config.tasks import refuse_without_tasks
    from skyrl_train.launch.needs import refuse_without_packages
    from skyrl_train.launch.role import Role

    if Role.RUNTIME in request.roles and not args.runtime_command:
        refuse_without_packages(Role.RUNTIME, request.python)
    if Role.TRAINER in request.roles and not (request.prime or args.trainer_command):
        refuse_without_tasks(request.config)
        refuse_without_packages(Role.TRAINER, request.config.python.interpreter or request.python)


def _gated_request(args: argparse.Namespace) -> "tuple[Request | None, str | None]":
    """The request, and the doctor's refusal if there is one. Where the request fails too, the refusal comes first."""
    import tempfile

    from skyrl_train.fail import UsageError
    from skyrl_train.launch import gate

    with (
        tempfile.TemporaryDirectory(prefix="skyrl-gate-") as scratch,
        gate.login(args.target, gate.report_path("login", scratch), args.runtime_url) as checks,
    ):
        try:
            request = _request(args)
            _get_ready()
        except UsageError:
            refused = checks.refusal()
            if refused is None:
                raise
            return None, refused
        return request, checks.refusal()


def _get_ready() -> None:
    """Imports what `sbatch` needs while the doctor's checks still run."""
    from skyrl_train.launch import commands, launch, local, partitions, render  # noqa: F401

    render.load()


def _started(request: "Request", args: argparse.Namespace, job_dir: str) -> int:
    from skyrl_train.fail import UsageError
    from skyrl_train.launch import commands, local
    from skyrl_train.launch.launch import prepare, submit
    from skyrl_train.launch.slurm import SlurmError

    commands.write(job_dir, _commands(request, args, job_dir))
    paths = prepare(request, job_dir)
    if args.local:
        _say(f"job directory {job_dir}")
        return local.run(job_dir, paths, _stop_on_signals(), _say)
    try:
        submit(job_dir, paths, _say)
    except SlurmError as error:
        raise UsageError(str(error)) from None
    _say(f"job directory {job_dir}")
    return 0


def _request(args: argparse.Namespace) -> "Request":
    import os

    from skyrl_train.config.load import ConfigError, parse
    from skyrl_train.fail import UsageError
    from skyrl_train.launch.launch import Request
    from skyrl_train.launch.prime import prime_run
    from skyrl_train.launch.url import one_url

    if args.skip_runtime != (args.runtime_url is not None):
        raise UsageError(
            "--skip-runtime needs --runtime-url with the address of a running runtime, and --runtime-url needs --skip-runtime"
        )
    try:
        with open(args.target, encoding="utf-8-sig") as file:
            text = file.read()
        prime = prime_run(text, cwd=os.getcwd())
        config = prime.config if prime else parse(text)
    except OSError as error:
        raise UsageError(f"{args.target} cannot be read: {error.strerror}") from None
    except (ConfigError, UsageError, ValueError) as error:
        raise UsageError(f"{args.target} cannot be launched: {error}") from None
    if args.runtime_url is not None and one_url(args.runtime_url) is None:
        raise UsageError(f"--runtime-url is {args.runtime_url!r}; expected one http:// or https:// URL")
    named = config.sandbox.runtime_url
    if args.runtime_url is not None and named is not None and named.rstrip("/") != args.runtime_url.rstrip("/"):
        raise UsageError(
            f"--runtime-url is {args.runtime_url}, but {args.target} has sandbox.runtime_url = {named}; use one of the two"
        )
    if args.local and config.slurm.nodes > 1:
        raise UsageError(
            f"--local uses one machine, but slurm.nodes is {config.slurm.nodes}; set slurm.nodes = 1 or launch with Slurm"
        )
    _own_commands(args)
    return Request(
        config=config,
        config_text=text,
        work_dir=prime.project_dir if prime else os.getcwd(),
        python=sys.executable,
        roles=_roles(args, has_own=prime is None),
        prime=prime,
    )


def _roles(args: argparse.Namespace, *, has_own: bool) -> "tuple[Role, ...]":
    """The jobs to start. A prime-rl run gets a sandbox runtime only with --with-runtime."""
    from skyrl_train.fail import UsageError
    from skyrl_train.launch.role import Role

    if args.runtime_only and not has_own:
        raise UsageError("a prime-rl TOML describes no sandbox runtime; pass a RunConfig with --runtime-only")
    if args.runtime_only:
        return (Role.RUNTIME,)
    return (Role.TRAINER,) if args.skip_runtime or not (has_own or args.with_runtime) else tuple(Role)


def _commands(request: "Request", args: argparse.Namespace, job_dir: str) -> "Commands":
    import dataclasses

    from skyrl_train.launch.commands import NO_RUNTIME, default
    from skyrl_train.launch.role import Role

    made = default(request.python, request.config, job_dir, args.runtime_url)
    if request.prime:
        alone = Role.RUNTIME not in request.roles and args.runtime_url is None
        url = NO_RUNTIME if alone else args.runtime_url
        made = dataclasses.replace(
            made, trainer=request.prime.payload(job_dir), logs=(request.prime.logs,), runtime_url=url
        )
    runtime, trainer = _own_commands(args)
    return dataclasses.replace(made, runtime=runtime or made.runtime, trainer=trainer or made.trainer)


def _own_commands(args: argparse.Namespace) -> list[tuple[str, ...]]:
    """The commands of the runtime and the trainer, empty where the user gives none."""
    from skyrl_train.fail import UsageError

    try:
        return [tuple(shlex.split(line or "")) for line in (args.runtime_command, args.trainer_command)]
    except ValueError as error:
        raise UsageError(f"--runtime-command or --trainer-command is not a valid command line: {error}") from None


def _dry_run(request: "Request", args: argparse.Namespace) -> int:
    import os

    from skyrl_train.launch import directory
    from skyrl_train.launch.launch import extra_files, planned, sbatch_options
    from skyrl_train.launch.render import node_script, script

    job_dir = os.path.abspath(args.job_dir or os.path.join(directory.ROOT, "TIMESTAMP_launch"))
    submitted: dict[str, str] = {}
    for role, job in planned(request, job_dir).items():
        path = os.path.join(job_dir, f"{role}.sh")
        line = shlex.join(["sbatch", "--parsable", *sbatch_options(role, submitted), path])
        sys.stdout.write(f"# {path}\n{script(job)}\n{line}\n\n")
        sys.stdout.write(f"# {os.path.join(job_dir, role.node_script)}\n{node_script(job)}\n")
        submitted[role] = f"{role.upper()}_JOB_ID"
    for name, text, _mode in extra_files(request, job_dir):
        sys.stdout.write(f"# {os.path.join(job_dir, name)}\n{text}\n")
    return 0


def _stop_on_signals() -> "Callable[[], bool]":
    import signal

    received: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: received.append(number))
    return lambda: bool(received)


def _say(text: str) -> None:
    sys.stderr.write(f"skyrl-train launch: {text}\n")
