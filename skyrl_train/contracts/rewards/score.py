"""The score of a rollout, or the reason why it has none."""

from dataclasses import dataclass
from enum import StrEnum


class UnscorableReason(StrEnum):
    """Why a reward could not be computed. None of these is certainly caused by the model."""

    SANDBOX_FAILED = "sandbox_failed"
    TESTS_TIMED_OUT = "tests_timed_out"
    TESTS_KILLED = "tests_killed"
    TESTS_NOT_STARTED = "tests_not_started"
    TESTS_MISSING = "tests_missing"
    OUTPUT_MISSING = "output_missing"
    OUTPUT_TRUNCATED = "output_truncated"
    EXPECTATION_UNREADABLE = "expectation_unreadable"
    SCORER_FAILED = "scorer_failed"


@dataclass(frozen=True, slots=True)
class Scored:
    """A computed reward. `why` is the reason for it."""

    reward: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Unscorable:
    """No reward: the rollout is masked and counted, not scored 0."""

    reason: UnscorableReason
    detail: str


Score = Scored | Unscorable
