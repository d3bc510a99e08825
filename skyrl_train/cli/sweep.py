"""skyrl-train sweep: takes away what a job that is over has left on this node. For Slurm's Epilog, and by hand."""

import argparse
import sys


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job_id", metavar="JOB_ID", help="a job of Slurm that is over")
    parser.add_argument("--uid", type=int, metavar="U", help="whose job it was (default: yours); another's takes root")
    parser.add_argument("--over", action="store_true", help="the job is over: Slurm is not asked")
    parser.add_argument(
        "--base",
        action="append",
        default=[],
        metavar="DIR",
        help="a directory for scratch on this node (default: /tmp)",
    )


def run(args: argparse.Namespace) -> int:
    import os

    from skyrl_train.contracts.errors import UsageError
    from skyrl_train.launch import leftovers
    from skyrl_train.node.podman_store import LOCAL_BASE

    uid = os.getuid() if args.uid is None else args.uid
    if os.getuid() not in (0, uid):
        raise UsageError(f"job {args.job_id} is of user {uid}, and this is user {os.getuid()}: only root may sweep it")
    if any(not base.startswith("/") for base in args.base):
        raise UsageError(f"--base is {args.base}, wanted absolute paths")
    if not args.over:
        _must_be_over(args.job_id)
    try:
        done = leftovers.of_dead_job(args.job_id, uid, args.base or (LOCAL_BASE,))
    except ValueError as error:
        raise UsageError(str(error)) from None
    if done.processes:
        sys.stdout.write(f"ended {len(done.processes)} processes: {' '.join(map(str, done.processes))}\n")
    sys.stdout.write("".join(f"unmounted {point}\n" for point in done.mounts))
    sys.stdout.write("".join(f"removed {path}\n" for path in done.directories))
    sys.stderr.write("".join(f"skyrl-train sweep: {trouble}\n" for trouble in done.troubles))
    return 1 if done.troubles else 0


def _must_be_over(job_id: str) -> None:
    from skyrl_train.contracts.errors import UsageError
    from skyrl_train.launch import slurm
    from skyrl_train.launch.runtime_watch import ALIVE

    try:
        told = slurm.state(job_id).state if job_id.isdigit() else ""
    except slurm.SlurmError as error:
        raise UsageError(f"whether job {job_id} is over cannot be told: {error}; say --over if it is") from None
    if told in ALIVE:
        raise UsageError(f"job {job_id} is {told}; wanted one that is over")
