"""Rules on the figures of steps: one bad step says nothing, some in a row do; a good one takes nothing back, five do."""

import math

import pytest

from skyrl_doctor.core.model import Severity
from skyrl_doctor.watch.finding import Alert
from skyrl_doctor.watch.rules.collapse import RULE as COLLAPSE
from skyrl_doctor.watch.rules.conditions import CONDITIONS, CORRELATION
from skyrl_doctor.watch.rules.metrics import RULE
from watching import brief, play, steps, texts

HEALTHY = {
    "actor/loss": 0.1,
    "actor/grad_norm": 0.4,
    "critic/score/min": 0.0,
    "critic/score/max": 1.0,
    "critic/score/mean": 0.3,
    "critic/advantages/mean": 0.0,
    "response_length/min": 12.0,
    "response_length/clip_ratio": 0.1,
    CORRELATION: 0.9995,
    "rollout_metrics/rollouts": 16.0,
    "rollout_metrics/num_mask_out": 2.0,
    "rollout_metrics/no_call_ratio": 0.1,
    "rollout_metrics/context_exceed_ratio": 0.1,
    "rollout_metrics/stuck_in_a_loop_ratio": 0.0,
}
BAD: dict[str, tuple[dict[str, float], str]] = {
    "TRN005.metrics": ({"actor/grad_norm": math.nan}, "actor/grad_norm is nan"),
    "TRN001.empty": ({"critic/advantages/mean": math.nan}, "critic/advantages/mean is nan (no token is trained on)"),
    "AGT019.masked": ({"rollout_metrics/num_mask_out": 9.0}, "9 of 16 rollouts are masked"),
    "AGT021.rewards": ({"critic/score/max": 0.0}, "every critic/score is 0"),
    "AGT021.gradient": ({"actor/grad_norm": 0.0}, "actor/grad_norm is 0"),
    "AGT016.logprob": ({CORRELATION: 0.5}, f"{CORRELATION} is 0.5"),
    "AGT016.drift": ({CORRELATION: 0.97}, f"{CORRELATION} is 0.97"),
    "TRN004.empty": ({"response_length/min": 0.0}, "response_length/min is 0"),
    "AGT001.no-call": ({"rollout_metrics/no_call_ratio": 0.6}, "rollout_metrics/no_call_ratio is 0.6"),
    "AGT015.no-calls": ({"rollout_metrics/no_call_ratio": 1.0}, "rollout_metrics/no_call_ratio is 1"),
    "AGT019.context": ({"rollout_metrics/context_exceed_ratio": 0.7}, "rollout_metrics/context_exceed_ratio is 0.7"),
    "AGT019.loops": ({"rollout_metrics/stuck_in_a_loop_ratio": 0.4}, "rollout_metrics/stuck_in_a_loop_ratio is 0.4"),
    "AGT019.clipped": ({"response_length/clip_ratio": 0.8}, "response_length/clip_ratio is 0.8"),
}


def test_every_condition_has_its_case() -> None:
    assert sorted(BAD) == sorted(condition.key for condition in CONDITIONS)


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda condition: condition.key)
def test_said_after_some_in_a_row_and_taken_back_after_five_good(condition: object) -> None:
    one = next(known for known in CONDITIONS if known is condition)
    bad, seen = BAD[one.key]
    wrong = {**HEALTHY, **bad}
    before = [HEALTHY] * 3 + [wrong] * (one.after - 1) + [HEALTHY]
    assert play(RULE, steps(*before)) == []
    timeline = [*before, *[wrong] * one.after, *[HEALTHY] * 4, wrong, *[HEALTHY] * 5]
    said = [found for found in play(RULE, steps(*timeline)) if found.key == one.key]
    at = len(before) + one.after
    assert brief(said) == [(30.0 * at, one.key), (30.0 * len(timeline), f"-{one.key}")]
    (found,) = (found for found in said if isinstance(found, Alert))
    assert found.finding.message == f"{seen} for {one.after} steps in a row; expected {one.expected}"
    assert (found.id, found.root) == (one.key.partition(".")[0], one.root)
    assert found.root <= (found.finding.severity is Severity.ERROR)


def test_figures_that_are_not_there_are_neither_good_nor_bad() -> None:
    assert play(RULE, steps(*[{"actor/lr": 1e-6}] * 20)) == []
    nothing = {"val-core/r2e/mean": 0.1}
    wrong = {"actor/grad_norm": math.inf}
    assert brief(play(RULE, steps(wrong, nothing, wrong, nothing, wrong))) == [(150.0, "TRN005.metrics")]


def test_the_same_step_twice_counts_once() -> None:
    wrong = {"actor/grad_norm": math.inf}
    timeline = [step for step in steps(wrong, wrong) for _ in range(3)]
    assert play(RULE, timeline) == []


def test_all_masked_is_nothing_to_learn_and_not_a_number_that_diverged() -> None:
    wrong = {"rollout_metrics/rollouts": 8.0, "rollout_metrics/num_mask_out": 8.0, "critic/advantages/mean": math.nan}
    assert texts(play(RULE, steps(wrong, wrong, wrong))) == [
        "all 8 rollouts are masked for 3 steps in a row; expected at least one token to train on",
        "8 of 8 rollouts are masked for 3 steps in a row; expected at most half of them",
    ]


def rewards(*values: float) -> list[dict[str, float]]:
    return [{"critic/score/mean": value} for value in values]


def test_a_reward_that_is_lost() -> None:
    rise, fall, back = rewards(*[0.1, 0.2, 0.3, 0.4, 0.4, 0.4]), rewards(*[0.05] * 5), rewards(*[0.4] * 5)
    said = play(COLLAPSE, steps(*rise, *fall, *back))
    assert brief(said) == [(300.0, "AGT019.collapse"), (420.0, "-AGT019.collapse")]
    assert texts(said) == [
        "the mean reward of 5 steps fell from 0.34 (steps up to 6) to 0.12; expected at least half of the best"
    ]


def test_rewards_that_jump_or_never_were_are_no_collapse() -> None:
    assert play(COLLAPSE, steps(*rewards(*[0.4, 0.0] * 20))) == []
    assert play(COLLAPSE, steps(*rewards(*[0.01] * 5, *[0.0] * 20))) == []
    assert play(COLLAPSE, steps(*rewards(*[math.nan] * 20))) == []
