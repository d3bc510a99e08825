"""What a probe or a check may raise to say that it has no verdict.

DoctorError
├── NotApplicable   the question does not arise here -> SKIP
├── CouldNotLook    the answer could not be had      -> UNKNOWN
└── UsageError      the caller asked for something impossible -> exit 2
"""


class DoctorError(Exception):
    """Base of the doctor's own exceptions; its text is for the person who reads it."""


class NotApplicable(DoctorError):  # noqa: N818 -- not an error: an answer
    """The check does not apply to this machine or this plan; the text says why."""


class CouldNotLook(DoctorError):  # noqa: N818 -- not an error: an answer
    """The machine did not give the fact; the text says what was tried."""


class UsageError(DoctorError):
    """Bad input from the caller: one clear sentence, exit status 2."""
