"""Refuses a configuration without tasks. Pure."""

from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.errors import UsageError


def refuse_without_tasks(config: RunConfig) -> None:
    """UsageError if task files are missing. verl would fail minutes later with an unclear message."""
    if not config.data.train_files:
        raise UsageError("data.train_files is empty; add at least one file of tasks")
    validates = config.trainer.validate_first or config.trainer.validate_every_steps > 0
    if validates and not config.data.val_files:
        raise UsageError(
            "validation is on but data.val_files is empty; add files, or set trainer.validate_first = false and validate_every_steps = -1"
        )
