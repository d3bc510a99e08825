"""Errors of checkpoints. Each message states what was found, what is expected and what to do."""

from skyrl_train.contracts.errors import UsageError


class CheckpointError(UsageError):
    """A checkpoint cannot be used, or a directory has none although one is needed."""
