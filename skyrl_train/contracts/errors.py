"""The errors of the training package. Each has a message for the user:

TrainError
├── UsageError     an argument, file or configuration is invalid: exit status 2, nothing was started
└── …              each package defines its own subclasses of TrainError
"""


class TrainError(Exception):
    """An error that the user can fix. The message states what was found, where, what is expected and what to do."""


class UsageError(TrainError):
    """An argument, a file or a configuration is invalid."""
