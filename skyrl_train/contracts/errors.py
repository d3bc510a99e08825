"""What the training package raises. One tree, and each error carries a sentence for the person who gets it:

TrainError
├── UsageError     what the user gave cannot be used: exit status 2, nothing was started
└── …              each package adds its own below TrainError, beside what raises it
"""


class TrainError(Exception):
    """Something that the user can act upon: what was found, what was wanted, where, and what to do."""


class UsageError(TrainError):
    """An argument, a file or a configuration that cannot be used."""
