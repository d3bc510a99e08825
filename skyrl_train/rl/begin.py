"""The program of the driver process: what must begin before the driver's own long imports."""

import os
import sys

from skyrl_train.config.load import from_resolved
from skyrl_train.contracts import bounded
from skyrl_train.contracts.run_log import say
from skyrl_train.launch import directory
from skyrl_train.node.ray import ADDRESS, starts_own_cluster
from skyrl_train.rl import seeds
from skyrl_train.rl.forks.given import given_by_verl
from skyrl_train.rl.forks.start import Forks, start


def forks_of(job_dir: str) -> Forks | None:
    """The fork server of this run, which imports while the driver does; None if it is turned off or does not start.

    Other nodes do not have the program that it gives to Ray.
    """
    try:
        config = from_resolved(bounded.read_text(os.path.join(job_dir, directory.RESOLVED)))
        alone = config.slurm.nodes == 1 and (not os.environ.get(ADDRESS) or starts_own_cluster(os.environ))
        if not (config.trainer.fork_workers and alone):
            return None
        return start(given_by_verl() | os.environ | config.env | seeds.workers(config))
    except OSError as error:
        say(f"each worker imports for itself: {error}")
        return None


if __name__ == "__main__":
    _, job_dir, work_dir = sys.argv
    forks = forks_of(job_dir)
    from skyrl_train.rl import driver

    driver.leave(job_dir, work_dir, forks)
