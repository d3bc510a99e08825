"""Rules on the figures of steps: one bad step says nothing, some in a row do; a good one takes nothing back, five do."""

import math

import pytest

from skyrl_doctor.core.model import Severity
from skyrl_doctor.watch.finding import Alert
from skyrl_doctor.watch.observations import Step
from skyrl_doctor.watch.rules.conditions import CONDITIONS
from skyrl_doctor.watch.rules.metrics import RULE
from watching import brief, play, steps, texts

CORRELATION = "training/rollout_actor_probs_pearson_corr"
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
    "training/rollout_probs_diff_mean": 0.003,
    "rollout_corr/kl": 0.001,
    "rollout_corr/rollout_is_eff_sample_size": 0.9,
    "rollout_corr/rollout_is_mean": 1.0,
    "actor/kl_loss": 0.1,
    "Cancelled": 0.1,
    "Error": 0.01,
    "Trainable": 0.5,
    "policy/rollout_train_logprobs_abs_diff_mean": 0.01,
    "async/staleness_violation_count": 0.0,
    "async/keep_rate": 0.5,
    "weights/probe_difference": 0.005,
}
BAD: dict[str, tuple[dict[str, float], str]] = {
    "TRN005.metrics": ({"actor/grad_norm": math.nan}, "actor/grad_norm is nan"),
    "TRN005.infinite": ({"actor/grad_norm": math.inf}, "actor/grad_norm is inf"),
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
    "AGT016.probs": ({"training/rollout_probs_diff_mean": 0.02}, "training/rollout_probs_diff_mean is 0.02"),
    "AGT016.kl": ({"rollout_corr/kl": -0.2}, "rollout_corr/kl is -0.2"),
    "AGT016.kl-large": ({"rollout_corr/kl": 3.9}, "rollout_corr/kl is 3.9"),
    "AGT016.log-probs": (
        {"policy/rollout_train_logprobs_abs_diff_mean": 0.3},
        "policy/rollout_train_logprobs_abs_diff_mean is 0.3",
    ),
    "AGT016.samples": (
        {"rollout_corr/rollout_is_eff_sample_size": 0.2},
        "rollout_corr/rollout_is_eff_sample_size is 0.2",
    ),
    "AGT016.importance": ({"rollout_corr/rollout_is_mean": 0.4}, "rollout_corr/rollout_is_mean is 0.4"),
    "AGT016.stale": ({"Cancelled": 0.6}, "Cancelled is 0.6"),
    "AGT016.too-old": ({"async/staleness_violation_count": 3.0}, "async/staleness_violation_count is 3"),
    "AGT019.reference": ({"actor/kl_loss": 12.0}, "actor/kl_loss is 12"),
    "AGT019.errors": ({"Error": 0.6}, "Error is 0.6"),
    "TRN021.drift": ({"weights/probe_difference": 0.03}, "weights/probe_difference is 0.03"),
    "TRN021.difference": ({"weights/probe_difference": 0.2}, "weights/probe_difference is 0.2"),
    "AGT021.groups": ({"Trainable": 0.05}, "Trainable is 0.05"),
    "AGT021.kept": ({"async/keep_rate": 0.05}, "async/keep_rate is 0.05"),
}


def test_every_condition_has_its_case() -> None:
    assert sorted([*BAD, "AGT019.at-limit"]) == sorted(condition.key for condition in CONDITIONS)


TABLE = [condition for condition in CONDITIONS if condition.key in BAD]


@pytest.mark.parametrize("condition", TABLE, ids=lambda condition: condition.key)
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
    assert brief(play(RULE, steps(wrong, nothing, wrong, nothing, wrong))) == [(150.0, "TRN005.infinite")]


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


def test_a_step_printed_in_two_lines_counts_once_for_each_figure() -> None:
    """prime-rl's orchestrator prints its line of a step before the trainer prints its own."""
    timeline: list[Step] = []
    for number in range(1, 3):
        timeline.append(Step(at=10.0 * number, step=number, metrics={"Reward": 0.5}, trainer="prime-rl"))
        timeline.append(Step(at=10.0 * number + 5, step=number, metrics={"Grad. Norm": math.nan}, trainer="prime-rl"))
    assert brief(play(RULE, timeline)) == [(25.0, "TRN005.metrics")]


def test_the_gradient_of_an_earlier_skyrl() -> None:
    wrong = {"policy/raw_grad_norm": math.nan}
    assert brief(play(RULE, steps(wrong, wrong))) == [(60.0, "TRN005.metrics")]


def test_responses_at_the_limit_in_skyrl() -> None:
    cut = {"generate/avg_num_tokens": 3980.0, "generate/max_num_tokens": 4096.0}
    fine = {"generate/avg_num_tokens": 2000.0, "generate/max_num_tokens": 4096.0}
    short = {"generate/avg_num_tokens": 20.0, "generate/max_num_tokens": 20.0}
    assert play(RULE, steps(*[fine] * 6, *[short] * 6)) == []
    assert texts(play(RULE, steps(*[cut] * 5))) == [
        (
            "generate/avg_num_tokens is 3980, and the longest response has 4096 for 5 steps in a row; expected a mean well "
            "below the longest: cut responses earn no reward"
        )
    ]


def test_groups_without_a_difference_in_skyrl() -> None:
    assert texts(play(RULE, steps(*[{"loss/avg_raw_advantages_abs": 0.0}] * 5))) == [
        (
            "loss/avg_raw_advantages_abs is 0 (the rewards of each group are equal) for 5 steps in a row; expected "
            "different rewards: equal ones give no gradient"
        )
    ]


def test_a_run_that_is_nan_resumes_from_before_the_first_bad_step() -> None:
    fine, wrong = {"actor/grad_norm": 0.4}, {"actor/grad_norm": math.nan}

    def found(*metrics: dict[str, float]) -> tuple[int | None, str]:
        (one,) = (one for one in play(RULE, steps(*metrics)) if isinstance(one, Alert))
        assert one.finding.remedy is not None
        return one.step, one.finding.remedy.summary

    assert found(fine, wrong, fine, wrong, wrong) == (
        4,
        "resume from a checkpoint before step 4: later ones may hold NaN too. Lower the learning rate, or clip the gradient",
    )
    assert found(wrong, wrong) == (
        1,
        (
            "no step was finite: check the precision (bf16 instead of fp16), the model's files and the log-probabilities "
            "of the engine"
        ),
    )


def test_the_advice_is_the_framework_s_own() -> None:
    def advice(trainer: str, name: str) -> str:
        timeline = [Step(at=float(n), step=n, metrics={name: 0.5}, trainer=trainer) for n in range(1, 6)]
        (found,) = (one for one in play(RULE, timeline) if isinstance(one, Alert))
        assert found.finding.remedy is not None
        return found.finding.remedy.summary

    assert "algorithm.rollout_correction.rollout_is" in advice("verl", "rollout_corr/kl")
    assert "orchestrator.max_off_policy_steps" in advice("prime-rl", "Mismatch KL")
    log_probs = "policy/rollout_train_logprobs_abs_diff_mean"
    assert "trainer.algorithm.off_policy_correction.tis_ratio_type" in advice("SkyRL", log_probs)
