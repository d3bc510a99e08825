"""Trends: a reward that is lost or does not move, an entropy that is lost."""

import math

from skyrl_doctor.watch.rules.trends import RULE
from watching import brief, play, steps, texts


def rewards(*values: float) -> list[dict[str, float]]:
    return [{"critic/score/mean": value} for value in values]


def test_a_reward_that_is_lost() -> None:
    rise, fall, back = rewards(*[0.1, 0.2, 0.3, 0.4, 0.4, 0.4]), rewards(*[0.05] * 5), rewards(*[0.4] * 5)
    said = play(RULE, steps(*rise, *fall, *back))
    assert brief(said) == [(300.0, "AGT019.collapse"), (420.0, "-AGT019.collapse")]
    assert texts(said) == [
        "the mean reward of 5 steps fell from 0.34 (steps up to 6) to 0.12; expected at least half of the best"
    ]


def test_rewards_that_jump_or_never_were_are_no_collapse() -> None:
    assert play(RULE, steps(*rewards(*[0.4, 0.0] * 20))) == []
    assert play(RULE, steps(*rewards(*[0.01] * 5, *[0.0] * 19))) == []
    assert play(RULE, steps(*rewards(*[math.nan] * 20))) == []


def test_a_reward_that_does_not_move() -> None:
    said = play(RULE, steps(*rewards(*[0.0] * 25, 0.1)))
    assert brief(said) == [(600.0, "AGT021.stuck"), (780.0, "-AGT021.stuck")]
    assert texts(said) == ["critic/score/mean is 0 in each of the last 20 steps; expected it to move"]


def entropies(*values: float) -> list[dict[str, float]]:
    return [{"Entropy": value} for value in values]


def test_an_entropy_that_is_lost() -> None:
    said = play(RULE, steps(*entropies(*[0.6] * 5, 0.3, 0.1, *[0.01] * 6, *[0.5] * 5)))
    assert brief(said) == [(330.0, "AGT019.entropy"), (450.0, "-AGT019.entropy")]
    assert texts(said) == [
        "Entropy fell from 0.6 (steps up to 5) to 0.028; expected at least 10% of it: the policy repeats itself"
    ]


def test_a_low_entropy_from_the_start_and_a_slow_fall_are_none() -> None:
    assert play(RULE, steps(*entropies(*[0.03] * 20))) == []
    assert play(RULE, steps(*entropies(*[0.6] * 5, *[0.1] * 20))) == []
