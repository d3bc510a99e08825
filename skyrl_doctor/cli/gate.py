"""skyrl-doctor gate: runs preflight, then replaces itself by the command. A refusal exits with status 78.

The report goes to stderr, because stdout belongs to the command.
"""

import argparse
import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

from skyrl_doctor.cli.options import add_examination, add_nodes, add_report, add_structure_only
from skyrl_doctor.core.errors import UsageError
from skyrl_train.contracts.screen import print_note

if TYPE_CHECKING:
    from skyrl_doctor.report.model import Report

REFUSED = 78
NOT_FOUND = 127
CANNOT_RUN = 126
ELSEWHERE = frozenset({"sbatch", "srun", "salloc", "ssh"})
"""Commands that start the training on another machine."""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_examination(parser)
    add_nodes(parser)
    add_report(parser)
    add_structure_only(parser)
    parser.add_argument("--allow-unknown", action="store_true", help="start the command even if a check is unknown")
    parser.add_argument(
        "--job-dir", metavar="DIR", help="write verdict.json into this directory (default: $SKYRL_JOB_DIR)"
    )
    parser.epilog = (
        "Exit status: that of CMD, 78 refused, 2 bad input, 127 CMD does not exist, 126 CMD cannot be started."
    )
    parser.usage = "skyrl-doctor gate [TARGET …] [options] -- CMD …"


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.cli.session import examine, publish

    if not args.rest:
        raise UsageError("no command given; use `skyrl-doctor gate [TARGET …] -- CMD …`")
    job_dir = args.job_dir or os.environ.get("SKYRL_JOB_DIR")
    if job_dir and args.bundle is not None:
        raise UsageError(
            "--from examines a recording, but a verdict must be about this machine; use --from without a job directory"
        )
    if job_dir and args.structure_only:
        raise UsageError(
            "--structure-only does not examine this machine, but a verdict must be about it; use it without a job directory"
        )
    report = examine(args)
    with contextlib.redirect_stdout(sys.stderr):
        publish(report, args, in_full=True)  # a job's log is read when the job is gone
    if report.code == 1 or (report.code == 3 and not args.allow_unknown):
        _print_error(f"refused: the verdict is {report.verdict}; {args.rest[0]} was not started; exit status {REFUSED}")
        return REFUSED
    if not args.allow_unknown and (left_out := _gpu_checks_left_out(args, report)):
        _print_error(
            f"refused: no GPU is visible here, so the checks of a GPU node ({left_out}) did not run; "
            f"{args.rest[0]} was not started; exit status {REFUSED}"
        )
        _print_error("if it trains here, the GPU is missing; if not, name the role: --role login or --role runtime")
        return REFUSED
    if job_dir:
        from skyrl_doctor.verdict import write_verdict

        write_verdict(job_dir, report, unknown_allowed=args.allow_unknown)
    return _exec(args.rest)


def _gpu_checks_left_out(args: argparse.Namespace, report: "Report") -> int:
    """How many checks of a GPU node were left out only because this machine shows no GPU, before a training starts on it."""
    from skyrl_doctor.core.model import Role, Status
    from skyrl_doctor.core.registry import discover

    is_guess = args.role == "auto" and args.bundle is None and not args.structure_only and Role.GPU not in report.roles
    if not is_guess or not args.targets or os.path.basename(args.rest[0]) in ELSEWHERE:
        return 0
    gpu_only = {check.id for check in discover().checks if check.roles == {Role.GPU}}
    return sum(outcome.status is Status.SKIP and outcome.id in gpu_only for outcome in report.outcomes)


def _exec(command: list[str]) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the command would inherit that
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 -- the caller's own command, as an argv
    except FileNotFoundError:
        _print_error(f"passed, but the command {command[0]!r} does not exist")
        return NOT_FOUND
    except OSError as error:
        _print_error(f"passed, but {command[0]} cannot be started: {error.strerror}")
        return CANNOT_RUN


def _print_error(text: str) -> None:
    print_note(f"skyrl-doctor gate: {text}")
