"""skyrl-train launch: passes the login gate, then submits two Slurm jobs. Exit status 78 if the gate refuses."""

import argparse
import sys
from typing import TYPE_CHECKING

from skyrl_train.contracts.screen import fitted, limit, print_note

if TYPE_CHECKING:
    from collections.abc import Callable

    from skyrl_train.launch.request import Request


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="a run.toml or a prime-rl TOML")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print both batch scripts, the sbatch commands and what the launch would refuse; submit nothing",
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
    from datetime import datetime

    from skyrl_train.launch.start import dry_run, launch

    request = request_of(args)
    if args.dry_run:
        return dry_run(request, say=_say, show=sys.stdout.write)
    now = datetime.now()  # noqa: DTZ005 -- a name for the user's own clock
    return launch(request, now=now, say=_say, must_stop=_stop_on_signals)


def request_of(args: argparse.Namespace) -> "Request":
    """The request of a command line. UsageError if its options contradict each other or do not parse."""
    import os

    from skyrl_train.contracts.errors import UsageError
    from skyrl_train.contracts.job_files import one_url
    from skyrl_train.launch.request import Request

    if args.skip_runtime != (args.runtime_url is not None):
        raise UsageError(
            "--skip-runtime needs --runtime-url with the address of a running runtime, and --runtime-url needs --skip-runtime"
        )
    if args.runtime_url is not None and one_url(args.runtime_url) is None:
        raise UsageError(f"--runtime-url is {args.runtime_url!r}; expected one http:// or https:// URL")
    return Request(
        target=args.target,
        work_dir=os.getcwd(),
        runtime_only=args.runtime_only,
        with_runtime=args.with_runtime,
        runtime_url=args.runtime_url,
        local=args.local,
        job_dir=args.job_dir,
        has_gate=not args.no_gate,
        runtime_command=_words("--runtime-command", args.runtime_command),
        trainer_command=_words("--trainer-command", args.trainer_command),
    )


def _words(option: str, line: str | None) -> tuple[str, ...]:
    import shlex

    from skyrl_train.contracts.errors import UsageError

    try:
        return tuple(shlex.split(line or ""))
    except ValueError as error:
        raise UsageError(f"{option} is not a valid command line: {error}") from None


def _stop_on_signals() -> "Callable[[], bool]":
    """Begins to listen for signals; the result says whether one came."""
    import signal

    received: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: received.append(number))
    return lambda: bool(received)


def _say(text: str) -> None:
    for line in fitted([f"skyrl-train launch: {text}"], limit(sys.stderr)):
        print_note(line)
