"""Where the checkpoints of a run lie."""

import os
from typing import TYPE_CHECKING

from skyrl_train.contracts.job_files import LAUNCHES

if TYPE_CHECKING:
    from skyrl_train.config.run import RunConfig


def checkpoint_root(config: "RunConfig", work_dir: str) -> str:
    """verl's trainer.default_local_dir. `work_dir` is where the launch was made: relative paths begin there."""
    trainer = config.trainer
    return os.path.join(work_dir, os.path.expanduser(trainer.checkpoint_dir), trainer.project, trainer.experiment)


def work_dir_of(job_dir: str) -> str:
    """Where a launch was made: beside the directory of launches; here, where its directory was put elsewhere."""
    above = os.path.dirname(os.path.abspath(job_dir))
    return os.path.dirname(above) if os.path.basename(above) == LAUNCHES else os.getcwd()
