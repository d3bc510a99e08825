"""The directories of a run's checkpoints."""

import os
from typing import TYPE_CHECKING

from skyrl_train.contracts.job_files import LAUNCHES

if TYPE_CHECKING:
    from skyrl_train.config.run import RunConfig


def checkpoint_root(config: "RunConfig", work_dir: str) -> str:
    """verl's trainer.default_local_dir. Relative paths begin at `work_dir`, where the launch was made."""
    trainer = config.trainer
    return os.path.join(work_dir, os.path.expanduser(trainer.checkpoint_dir), trainer.project, trainer.experiment)


def work_dir_of(job_dir: str) -> str:
    """The directory in which a launch was made: the parent of .skyrl_jobs, or the current one for another --job-dir."""
    above = os.path.dirname(os.path.abspath(job_dir))
    return os.path.dirname(above) if os.path.basename(above) == LAUNCHES else os.getcwd()
