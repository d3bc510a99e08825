"""skyrl-doctor gate: preflight, then become the command. A refusal exits 78, which Slurm can be told to hold.

The report goes to stderr: stdout belongs to the command.
"""

import argparse
import contextlib
import os
import signal
import sys

from skyrl_doctor.cli.options import add_examination, add_nodes, add_report
from skyrl_doctor.core.errors import UsageError

REFUSED = 78
NOT_FOUND = 127
CANNOT_RUN = 126


def arguments(parser: argparse.ArgumentParser) -> None:
    add_examination(parser)
    add_nodes(parser)
    add_report(parser)
    parser.add_argument("--allow-unknown", action="store_true", help="pass although something could not be looked at")
    parser.add_argument("--job-dir", metavar="DIR", help="write verdict.json there (default: $SKYRL_JOB_DIR)")
    parser.usage = "skyrl-doctor gate [TARGET …] [options] -- CMD …"


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.cli.session import examine, publish

    if not args.rest:
        raise UsageError("no command: wanted `gate [TARGET …] -- CMD …`")
    job_dir = args.job_dir or os.environ.get("SKYRL_JOB_DIR")
    if job_dir and args.bundle is not None:
        raise UsageError("a verdict is of this machine, and --from looks at another; wanted one of the two")
    report = examine(args)
    with contextlib.redirect_stdout(sys.stderr):
        publish(report, args)
    if report.code == 1 or (report.code == 3 and not args.allow_unknown):
        _say(f"refused: the verdict is {report.verdict}; {args.rest[0]} was not started (exit status {REFUSED})")
        return REFUSED
    if job_dir:
        from skyrl_doctor.verdict import write_verdict

        write_verdict(job_dir, report, unknown_allowed=args.allow_unknown)
    return _become(args.rest)


def _become(command: list[str]) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them for itself, and exec would hand that on
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606 -- the caller's own command, as an argv
    except FileNotFoundError:
        _say(f"passed, but there is no command {command[0]!r}")
        return NOT_FOUND
    except OSError as error:
        _say(f"passed, but {command[0]} cannot be run: {error.strerror}")
        return CANNOT_RUN


def _say(text: str) -> None:
    sys.stderr.write(f"skyrl-doctor gate: {text}\n")
