"""skyrl-train stop: ends both jobs of a launch."""

import argparse
import sys


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job_dir", nargs="?", metavar="JOB_DIR", help="default: the latest in .skyrl_jobs")


def run(args: argparse.Namespace) -> int:
    import os

    from skyrl_train.contracts.errors import UsageError
    from skyrl_train.contracts.job_files import LAUNCHES
    from skyrl_train.launch import directory, local, slurm, stop

    job_dir = os.path.abspath(args.job_dir or directory.latest(LAUNCHES))
    jobs = directory.read_jobs(job_dir)
    if not jobs:
        raise UsageError(f"{job_dir} tells of no submitted job")
    for role, job_id in jobs.items():
        if job_id.startswith(local.LOCAL):
            said = "told to end" if local.stop(job_id, job_dir) else "had ended"
        else:
            try:
                said = f"job {job_id} {stop.stop(job_id, role, job_dir, slurm.state, slurm.cancel)}"
            except slurm.SlurmError as error:
                raise UsageError(str(error)) from None
        sys.stdout.write(f"{role}: {said}\n")
    return 0
