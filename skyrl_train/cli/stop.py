"""skyrl-train stop: ends both jobs of a launch."""

import argparse
import sys


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job_dir", nargs="?", metavar="JOB_DIR", help="default: the latest in .skyrl_jobs")


def run(args: argparse.Namespace) -> int:
    import os

    from skyrl_train.fail import UsageError
    from skyrl_train.launch import directory, local, slurm

    job_dir = os.path.abspath(args.job_dir or directory.latest(directory.ROOT))
    jobs = directory.read_jobs(job_dir)
    if not jobs:
        raise UsageError(f"{job_dir} tells of no submitted job")
    here = {role: job_id for role, job_id in jobs.items() if job_id.startswith(local.LOCAL)}
    for role, job_id in here.items():
        told = local.stop(job_id, job_dir)
        sys.stdout.write(f"{role}: {'told to end' if told else 'had ended'}\n")
    queued = {role: job_id for role, job_id in jobs.items() if role not in here}
    try:
        slurm.cancel(*queued.values())
    except slurm.SlurmError as error:
        raise UsageError(str(error)) from None
    for role, job_id in queued.items():
        sys.stdout.write(f"{role}: job {job_id} cancelled\n")
    return 0
