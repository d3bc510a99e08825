"""What goes wrong with checkpoints: each with what was found, what was wanted and what to do."""

from skyrl_train.contracts.errors import UsageError


class CheckpointError(UsageError):
    """A checkpoint that cannot be used, or a directory without one where one was asked for."""
