"""Exceptions that a probe or a check raises if it cannot give a verdict.

DoctorError
├── NotApplicable   the check does not apply here        -> SKIP
├── CouldNotLook    the fact could not be read           -> UNKNOWN
└── UsageError      the input of the caller is invalid   -> exit status 2
"""


class DoctorError(Exception):
    """Base of the doctor's own exceptions. Its text is printed to the user."""


class NotApplicable(DoctorError):  # noqa: N818 -- not an error: an answer
    """The check does not apply to this machine or this plan. The text is the reason.

    `undecided` is a short clause about what the check lacks, if it would have something to judge here.
    """

    def __init__(self, reason: str, *, undecided: str = "") -> None:
        super().__init__(reason)
        self.undecided = undecided


class CouldNotLook(DoctorError):  # noqa: N818 -- not an error: an answer
    """The fact could not be read from the machine. The text says what was tried and what happened."""


class UsageError(DoctorError):
    """Invalid input from the caller: one sentence, exit status 2."""
