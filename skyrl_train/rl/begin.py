"""The program of the driver process: what must begin before the driver's own long imports."""

import os
import sys

from skyrl_train.config.load import from_resolved
from skyrl_train.contracts import bounded
from skyrl_train.contracts.run_log import say
from skyrl_train.launch import directory
from skyrl_train.rl.forks.start import Forks, start


def forks_of(job_dir: str) -> Forks | None:
    """The fork server of this run, which imports while the driver does; None if it is turned off or does not start."""
    try:
        config = from_resolved(bounded.read_text(os.path.join(job_dir, directory.RESOLVED)))
        return start() if config.trainer.fork_workers else None
    except OSError as error:
        say(f"each worker imports for itself: {error}")
        return None


if __name__ == "__main__":
    _, job_dir, work_dir = sys.argv
    forks = forks_of(job_dir)
    from skyrl_train.rl import driver

    driver.leave(job_dir, work_dir, forks)
