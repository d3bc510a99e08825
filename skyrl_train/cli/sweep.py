"""skyrl-train sweep: removes what a finished job left on this node. For Slurm's Epilog script, or by hand."""

import argparse

from skyrl_train.contracts.screen import print_line, print_lines, print_note


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job_id", metavar="JOB_ID", help="id of a finished Slurm job")
    parser.add_argument(
        "--uid", type=int, metavar="U", help="user id of the job's owner (default: yours); other users need root"
    )
    parser.add_argument("--over", action="store_true", help="do not ask Slurm whether the job has finished")
    parser.add_argument(
        "--base",
        action="append",
        default=[],
        metavar="DIR",
        help="scratch directory on this node; may be repeated (default: /tmp)",
    )


def run(args: argparse.Namespace) -> int:
    import os

    from skyrl_train.contracts.amount import amount
    from skyrl_train.contracts.errors import UsageError
    from skyrl_train.launch import leftovers
    from skyrl_train.node.podman_store import LOCAL_BASE

    uid = os.getuid() if args.uid is None else args.uid
    if os.getuid() not in (0, uid):
        raise UsageError(
            f"job {args.job_id} belongs to user {uid}, but you are user {os.getuid()}; only root may sweep it"
        )
    if any(not base.startswith("/") for base in args.base):
        raise UsageError(f"--base is {', '.join(args.base)}; expected absolute paths")
    if not args.over:
        _must_be_over(args.job_id)
    try:
        done = leftovers.of_dead_job(args.job_id, uid, args.base or (LOCAL_BASE,))
    except ValueError as error:
        raise UsageError(str(error)) from None
    if done.processes:
        print_line(
            f"ended {amount(len(done.processes), 'process', plural='processes')}: {' '.join(map(str, done.processes))}"
        )
    print_lines(f"unmounted {point}" for point in done.mounts)
    print_lines(f"removed {path}" for path in done.directories)
    for trouble in done.troubles:
        print_note(f"skyrl-train sweep: {trouble}")
    return 1 if done.troubles else 0


def _must_be_over(job_id: str) -> None:
    from skyrl_train.contracts.errors import UsageError
    from skyrl_train.launch import slurm
    from skyrl_train.launch.runtime_watch import ALIVE

    try:
        state = slurm.state(job_id).state if job_id.isdigit() else ""
    except slurm.SlurmError as error:
        raise UsageError(f"cannot find out whether job {job_id} has finished: {error}; pass --over if it has") from None
    if state in ALIVE:
        raise UsageError(f"job {job_id} is {state}; expected a finished job")
