"""AGT021: the reward of a task is tried before training."""

import pytest

from skyrl_train.contracts.rewards.oracle import oracle_fault
from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable, UnscorableReason

LOST = Unscorable(UnscorableReason.TESTS_MISSING, "r2e_tests is not in the sandbox")


@pytest.mark.parametrize(
    ("empty", "gold", "fault"),
    [
        (Scored(0.0), Scored(1.0), None),
        (
            Scored(1.0, "all 3 tests as expected"),
            Scored(1.0),
            "the empty patch scores 1; expected 0: all 3 tests as expected",
        ),
        (Scored(0.0), Scored(0.0, "a is ERROR"), "the gold patch scores 0; expected 1: a is ERROR"),
        (
            LOST,
            Scored(1.0),
            "the empty patch cannot be scored: tests_missing: r2e_tests is not in the sandbox",
        ),
        (
            Scored(0.0),
            LOST,
            "the gold patch cannot be scored: tests_missing: r2e_tests is not in the sandbox",
        ),
    ],
)
def test_gold_scores_one_and_nothing_scores_zero(empty: Score, gold: Score, fault: str | None) -> None:
    assert oracle_fault(empty=empty, gold=gold) == fault
