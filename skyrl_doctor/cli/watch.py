"""skyrl-doctor watch: follows a running job. Exit status 0: no root cause, 1: root cause found, 2: bad input."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skyrl_doctor.machine.base import Machine
    from skyrl_doctor.watch.loop import Watch
    from skyrl_doctor.watch.settings import Settings

FOUND = 1
WEBHOOK = "SKYRL_WATCH_WEBHOOK"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job_dir", metavar="JOB_DIR", help="the job directory, or a directory with its logs")
    parser.add_argument(
        "--logs",
        action="append",
        default=[],
        metavar="PATH",
        help="another log or directory of logs, such as /tmp/vllm.log",
    )
    parser.add_argument("--vllm", action="append", default=[], metavar="URL", help="/metrics of an inference server")
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="TARGET",
        help="configuration of the job (default: the one in JOB_DIR)",
    )
    parser.add_argument(
        "--checkpoints", default="", metavar="DIR", help="directory of the checkpoints (default: JOB_DIR/checkpoints)"
    )
    parser.add_argument("--tui", action="store_true", help="show a live view (q: quit)")
    once = parser.add_mutually_exclusive_group()
    once.add_argument("--once", action="store_true", help="examine everything once, then exit")
    once.add_argument("--post-mortem", action="store_true", help="write summary.md of a job that has ended, then exit")
    parser.add_argument(
        "--no-summary", action="store_true", help="do not write summary.md at the end; --post-mortem can write it later"
    )
    _policy(parser)
    parser.add_argument(
        "--webhook",
        default="",
        metavar="URL",
        help=f"send findings to this address (better: set ${WEBHOOK}, which ps does not show)",
    )
    parser.add_argument(
        "--job-log",
        default="auto",
        metavar="FILE",
        help="append a line per finding to this log; `none` turns it off (default: auto)",
    )
    parser.add_argument(
        "--tick", type=_seconds, default=1.0, metavar="S", help="seconds between reads of the logs (default: 1)"
    )
    parser.add_argument("--no-samplers", action="store_true", help="read only the logs; run no other probes")


def _policy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--on-root",
        choices=("report", "stop", "hold"),
        default="report",
        help="what to do when a root cause is certain (default: report)",
    )
    parser.add_argument(
        "--pid",
        type=int,
        action="append",
        default=[],
        metavar="N",
        help="process of the trainer: the watch stops it, and the job ends with it",
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
        help="a root cause from a log counts if the job makes no progress for S seconds after it (default: 120)",
    )
    parser.add_argument(
        "--grace",
        type=_seconds,
        default=60.0,
        metavar="S",
        help="seconds between asking the job to end and killing it (default: 60)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print what the policy would do, but do not do it")


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.machine.local import LocalMachine

    if not os.path.isdir(args.job_dir):
        raise UsageError(f"{args.job_dir}: no such directory; give the job directory")
    if args.post_mortem:
        return _post_mortem(args.job_dir)
    from skyrl_doctor.watch.setup import locked

    machine = LocalMachine()
    try:
        with locked(args.job_dir) as writes:
            return _watched(args, machine, writes=writes)
    finally:
        machine.close()


def _watched(args: argparse.Namespace, machine: "Machine", *, writes: bool) -> int:
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.watch.setup import build

    if not writes and not args.tui:
        raise UsageError(
            f"{args.job_dir} has another watch, or is not writable; use --tui to follow it without writing"
        )
    watch = build(_settings(args, writes=writes), machine, _silent if args.tui else _tell)
    why = _until_the_end(args, watch)
    watch.finish(why or "the watch was stopped")
    if writes and not args.once and not args.no_summary:
        _post_mortem(args.job_dir)
    return FOUND if watch.roots else 0


def _until_the_end(args: argparse.Namespace, watch: "Watch") -> str:
    from skyrl_doctor.watch.loop import run as turns
    from skyrl_doctor.watch.once import once
    from skyrl_doctor.watch.stop_signals import Told

    with Told() as told:
        if args.once:
            once(watch, sleep=told.wait)
            return "the watch ran with --once"
        if not args.tui:
            return turns(watch, sleep=told.wait, goes_on=lambda: not told.number)
        from skyrl_doctor.watch.tui.live import Live

        with Live(watch) as live:
            return turns(watch, sleep=live.wait, goes_on=lambda: not (told.number or live.left))


def _settings(args: argparse.Namespace, *, writes: bool) -> "Settings":
    from skyrl_doctor.watch.policy import Limits, Policy
    from skyrl_doctor.watch.settings import Settings

    return Settings(
        job_dir=os.path.abspath(args.job_dir),
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
        writes=writes,
    )


def _post_mortem(job_dir: str) -> int:
    from skyrl_doctor.watch.summary.write import write

    return FOUND if write(job_dir, tell=_tell) else 0


def _tell(text: str) -> None:
    """Prints a line. A closed pipe must not end the watch."""
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except OSError:
        return


def _silent(_text: str) -> None:
    return


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 86_400:
        raise argparse.ArgumentTypeError(f"{text}: expected 0 to 86400 seconds")
    return value
