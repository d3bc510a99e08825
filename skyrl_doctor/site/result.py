"""One line of the site's report."""

from enum import StrEnum

from skyrl_doctor.core.record import record


class Outcome(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    SKIP = "skip"
    UNKNOWN = "unknown"


@record
class Result:
    """What was checked, how it ended, and why. `cure` is what the administrator does about a failure."""

    outcome: Outcome
    subject: str
    reason: str
    cure: str = ""


def passed(subject: str, reason: str) -> Result:
    return Result(Outcome.PASS, subject, reason)


def failed(subject: str, reason: str, cure: str) -> Result:
    return Result(Outcome.FAIL, subject, reason, cure)


def skipped(subject: str, reason: str) -> Result:
    return Result(Outcome.SKIP, subject, reason)


def unknown(subject: str, reason: str) -> Result:
    return Result(Outcome.UNKNOWN, subject, reason)
