"""What our own trainer wants of a configuration before it can begin. Pure."""

from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.errors import UsageError


def refuse_without_tasks(config: RunConfig) -> None:
    """What verl would find out minutes later, in words that name none of this."""
    if not config.data.train_files:
        raise UsageError("data.train_files is empty; wanted at least one file of tasks")
    validates = config.trainer.validate_first or config.trainer.validate_every_steps > 0
    if validates and not config.data.val_files:
        raise UsageError("trainer asks for validation and data.val_files is empty; wanted files, or no validation")
