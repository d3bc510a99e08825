"""skyrl-doctor watch: watches a running job. Exit status 0: no root cause, 1: a root cause, 2: bad input."""

import argparse
import importlib.util
import os
import signal
import sys
from typing import TYPE_CHECKING

from skyrl_train.contracts.screen import print_line

if TYPE_CHECKING:
    from skyrl_doctor.machine.base import Machine
    from skyrl_doctor.watch.loop import Watch
    from skyrl_doctor.watch.settings import Settings

FOUND = 1
WEBHOOK = "SKYRL_WATCH_WEBHOOK"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "place",
        metavar="JOB_DIR|LOG",
        help="the job directory, any directory with logs, or a single log (nothing is stored)",
    )
    parser.add_argument(
        "--logs",
        action="append",
        default=[],
        metavar="PATH",
        help="another log or directory of logs, such as /tmp/vllm.log",
    )
    parser.add_argument(
        "--vllm", action="append", default=[], metavar="URL", help="an inference server; the watch reads its /metrics"
    )
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="TARGET",
        help="the job's configuration (default: the copy in JOB_DIR)",
    )
    parser.add_argument(
        "--checkpoints", default="", metavar="DIR", help="the checkpoint directory (default: JOB_DIR/checkpoints)"
    )
    parser.add_argument("--tui", action="store_true", help="show a live view (needs a terminal); q quits")
    once = parser.add_mutually_exclusive_group()
    once.add_argument("--once", action="store_true", help="read everything once, print what is open and exit")
    once.add_argument("--post-mortem", action="store_true", help="write summary.md for a job that is over and exit")
    parser.add_argument(
        "--no-summary",
        action="store_true",
        help="do not write summary.md at the end of the job; --post-mortem writes it later",
    )
    _policy(parser)
    parser.add_argument(
        "--webhook",
        default="",
        metavar="URL",
        help=f"post alerts to this address (better: set ${WEBHOOK}, which ps does not show)",
    )
    parser.add_argument(
        "--job-log",
        default="watch.log",
        metavar="FILE",
        help="the log that gets a line for each alert: a path, none, or auto for the newest training_*.out "
        "(default: watch.log in JOB_DIR)",
    )
    parser.add_argument(
        "--tick", type=_seconds, default=1.0, metavar="S", help="seconds between reads of the logs (default: 1)"
    )
    parser.add_argument("--no-samplers", action="store_true", help="read only the logs; run no other probes")
    parser.epilog = "Exit status: 0 no root cause, 1 a root cause, 2 bad input."


def _policy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--on-root",
        choices=("report", "stop", "hold"),
        default="report",
        help="what to do about a confirmed root cause (default: report)",
    )
    parser.add_argument(
        "--pid",
        type=int,
        action="append",
        default=[],
        metavar="N",
        help="the trainer's process: its exit is the end of the job, and --on-root stop stops it",
    )
    parser.add_argument("--job", default="", metavar="N", help="Slurm job of the trainer")
    parser.add_argument(
        "--runtime-job", default="", metavar="N", help="Slurm job of the runtime (default: from the name of its log)"
    )
    parser.add_argument(
        "--settle",
        type=_seconds,
        default=120.0,
        metavar="S",
        help="a root cause from a log is confirmed after this long without progress (default: 120)",
    )
    parser.add_argument(
        "--grace",
        type=_seconds,
        default=60.0,
        metavar="S",
        help="time between asking the job to end and ending it (default: 60)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print what the policy would do")


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.machine.local import LocalMachine
    from skyrl_train.contracts.similar_path import did_you_mean

    if not os.path.exists(args.place):
        raise UsageError(f"{args.place} does not exist{did_you_mean(args.place) or '; give a job directory or a log'}")
    if not (os.path.isdir(args.place) or os.path.isfile(args.place)):
        raise UsageError(f"{args.place} is neither a directory nor a regular file; give a job directory or a log")
    if args.tui and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("--tui needs a terminal; without it the watch prints a line for each step and finding")
    if args.tui and importlib.util.find_spec("textual") is None:
        from skyrl_train.contracts.extras import install

        raise UsageError(f"--tui needs Textual, which is not installed; run {install('tui')}")
    machine = LocalMachine()
    try:
        if not os.path.isdir(args.place):
            return _watched_log(args, machine)
        if args.post_mortem:
            return _post_mortem(args.place)
        if not _may_store(args):
            return _watched(args, machine, writes=False)
        from skyrl_doctor.watch.setup import locked

        with locked(args.place) as writes:
            return _watched(args, machine, writes=writes)
    finally:
        machine.close()


def _may_store(args: argparse.Namespace) -> bool:
    """Whether the watch may write in the directory. A single pass only reads one that is no job's, unless an option needs a store."""
    from skyrl_doctor.watch.files import is_job
    from skyrl_doctor.watch.sink.joblog import NONE, OWN

    needs_store = args.job_log not in (OWN, NONE) or args.on_root != "report" or args.webhook or os.environ.get(WEBHOOK)
    return bool(not args.once or needs_store or is_job(args.place))


def _watched_log(args: argparse.Namespace, machine: "Machine") -> int:
    """A single log: nothing is stored, so there is nothing to act on or to sum up."""
    from skyrl_doctor.core.errors import UsageError

    for option, is_set in (
        ("--post-mortem", args.post_mortem),
        (f"--on-root {args.on_root}", args.on_root != "report"),
    ):
        if is_set:
            raise UsageError(f"{option} needs a job directory; {args.place} is a file")
    return _watched(args, machine, writes=False)


def _watched(args: argparse.Namespace, machine: "Machine", *, writes: bool) -> int:
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.watch.setup import build
    from skyrl_doctor.watch.sink import screen

    if not writes and args.on_root != "report":
        raise UsageError(
            f"{args.place} is already watched or not writable; --on-root {args.on_root} needs the watch that stores"
        )
    settings, tell = _settings(args, writes=writes), _silent if args.tui else _tell
    watch = build(settings, machine, tell)
    for text in screen.introduction(settings):
        tell(text)
    why, number = _until_the_end(args, watch)
    watch.finish(why or "the watch was stopped")
    if args.once:
        watch.print_open()
    elif writes and not args.no_summary and (why or _ends_with_its_job(number)):
        _post_mortem(args.place)
    return watch.exit_status


def _ends_with_its_job(number: int) -> bool:
    """Slurm ends all processes of a job with SIGTERM. Any other signal stops the watch, and the job lives."""
    return number == signal.SIGTERM and "SLURM_JOB_ID" in os.environ


def _until_the_end(args: argparse.Namespace, watch: "Watch") -> tuple[str, int]:
    """Why the job is over, "" where it is not; and the signal that stopped the watch, or 0."""
    from skyrl_doctor.watch.loop import run as turns
    from skyrl_doctor.watch.once import once
    from skyrl_doctor.watch.stop_signals import StopSignals

    with StopSignals() as signals:
        if args.once:
            once(watch, sleep=signals.wait)
            return "--once: one pass is complete", signals.number
        if not args.tui:
            return turns(watch, sleep=signals.wait, goes_on=lambda: not signals.number), signals.number
        from skyrl_doctor.watch.tui.app import WatchApp

        return WatchApp(watch, goes_on=lambda: not signals.number).run() or "", signals.number


def _settings(args: argparse.Namespace, *, writes: bool) -> "Settings":
    from skyrl_doctor.watch.policy import Limits, Policy
    from skyrl_doctor.watch.settings import Settings

    place = os.path.abspath(args.place)
    return Settings(
        job_dir=place if os.path.isdir(place) else os.path.dirname(place),
        file="" if os.path.isdir(place) else place,
        logs=tuple(args.logs),
        vllm=tuple(args.vllm),
        config=tuple(args.config),
        checkpoints=args.checkpoints,
        job=args.job,
        runtime_job=args.runtime_job,
        pids=tuple(args.pid),
        policy=Policy(args.on_root),
        limits=Limits(settle_s=args.settle, grace_s=args.grace),
        dry_run=args.dry_run,
        webhook=args.webhook or os.environ.get(WEBHOOK, ""),
        job_log=args.job_log,
        tick_s=args.tick,
        samplers=not args.no_samplers,
        once=args.once,
        writes=writes,
    )


def _post_mortem(job_dir: str) -> int:
    from skyrl_doctor.watch.summary.write import write

    return FOUND if write(job_dir, tell=_tell) else 0


def _tell(text: str) -> None:
    """Prints a line. A closed pipe must not end the watch."""
    try:
        print_line(f"{text}")
        sys.stdout.flush()
    except OSError:
        return


def _silent(_text: str) -> None:
    return


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 86_400:
        raise argparse.ArgumentTypeError(f"{text}: expected seconds from 0 to 86400")
    return value
