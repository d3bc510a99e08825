"""skyrl-train status: shows the state of a launch."""

import argparse

from skyrl_train.contracts.screen import fitted, limit, print_lines


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "job_dir", nargs="?", metavar="JOB_DIR", help="job directory of the launch (default: the latest in .skyrl_jobs)"
    )


def run(args: argparse.Namespace) -> int:
    import os

    from skyrl_train.contracts.job_files import LAUNCHES
    from skyrl_train.launch import directory
    from skyrl_train.launch.status import lines

    job_dir = os.path.abspath(args.job_dir or directory.latest(LAUNCHES))
    print_lines(fitted(lines(job_dir), limit()))
    return 0
