"""skyrl-train stop: stops both jobs of a launch."""

import argparse

from skyrl_train.contracts.screen import print_line


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "job_dir", nargs="?", metavar="JOB_DIR", help="job directory of the launch (default: the latest in .skyrl_jobs)"
    )


def run(args: argparse.Namespace) -> int:
    import os

    from skyrl_train.contracts.errors import UsageError
    from skyrl_train.contracts.job_files import LAUNCHES
    from skyrl_train.launch import directory, local, slurm, stop, stop_cause

    job_dir = os.path.abspath(args.job_dir or directory.latest(LAUNCHES))
    jobs = directory.read_jobs(job_dir)
    if not jobs:
        raise UsageError(f"{job_dir} records no submitted job")
    stop_cause.write_request(
        job_dir, f"stopped with `skyrl-train stop` by {_user()} on {_host()}", tuple(jobs.values())
    )
    ours = {role: job_id for role, job_id in jobs.items() if not job_id.startswith(directory.LOCAL)}
    try:
        outcomes = stop.stop(ours, job_dir, slurm.state, slurm.cancel)
    except slurm.SlurmError as error:
        stop_cause.withdraw_request(job_dir)
        raise UsageError(str(error)) from None
    for role, job_id in jobs.items():
        if role in outcomes:
            outcome = f"job {job_id} {outcomes[role]}"
        else:
            outcome = "asked to stop" if local.stop(job_id, job_dir) else "had already ended"
        print_line(f"{role}: {outcome}")
    return 0


def _user() -> str:
    """The name of this user, or the id if the node has no name for it."""
    import os
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _host() -> str:
    import socket

    return socket.gethostname()
