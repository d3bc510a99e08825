"""What a rollout is worth, or why nobody can say."""

from dataclasses import dataclass
from enum import StrEnum


class UnscorableReason(StrEnum):
    """What kept the reward from being computed. None of it is the model's doing, as far as anyone can tell."""

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
    """A reward that was computed. `why` says what decided it."""

    reward: float
    why: str = ""


@dataclass(frozen=True, slots=True)
class Unscorable:
    """No reward: the rollout is masked and counted, and is no zero."""

    reason: UnscorableReason
    detail: str


Score = Scored | Unscorable
