"""The prediction of a step against everything that was measured."""

import statistics

import pytest

from benchmarks import step_time
from benchmarks.step_time import Step, fit, left_out, off, samples, steps
from skyrl_train.memory.step_time import COSTS, FACTOR

MEASURED = steps()
ALONE = ("0.5b", "7b-lora", "main_ppo-0.5b", "main_ppo-1.5b-offload-kl")
"""Whole steps, warm, with the node for themselves."""
POINTS = 0.15
"""By which the share of the rollouts may be off."""


def test_every_measured_run_is_compared() -> None:
    assert [step.name for step in MEASURED] == [
        "0.5b-plain",
        "0.5b",
        "7b-lora",
        "toy",
        "main_ppo-0.5b",
        "main_ppo-1.5b-offload-kl",
        "long-tail-sync, H200",
        "long-tail-colocate_async, H200",
        "long-tail-sync, H100-80GB",
        "long-tail-separate_async, H100-80GB",
        "long-tail-sync on 0,1, H100-80GB",
        "long-tail-separate_async on 0,1, H100-80GB",
        "long-tail-sync on 2,3, H100-80GB",
        "long-tail-separate_async on 2,3, H100-80GB",
        "0.5b-2-gpus-kl, H200",
        "0.5b-2-gpus-critic, H200",
        "0.5b-2-gpus-lora, H200",
        "0.5b-4-gpus-critic, H100-80GB",
        "0.5b-4-gpus-lora, H100-80GB",
        "0.5b-separate-critic, H100-80GB",
        "0.5b-separate-lora, H100-80GB",
    ]
    assert all(step.predicted.measured for step in MEASURED if step.name != "toy")


@pytest.mark.parametrize("step", MEASURED, ids=lambda step: step.name)
def test_a_step_is_right_within_the_factor_that_is_printed(step: Step) -> None:
    assert off(step.ratio) <= FACTOR
    if step.shares is not None:
        predicted, measured = step.shares
        assert abs(predicted - measured) <= POINTS


@pytest.mark.parametrize("step", [step for step in MEASURED if step.name in ALONE], ids=lambda step: step.name)
def test_a_step_alone_on_its_node_is_right_within_a_fifth(step: Step) -> None:
    assert off(step.ratio) <= 1.2
    assert step.shares is not None
    assert abs(step.shares[0] - step.shares[1]) <= 0.05


def test_a_phase_is_predicted_by_the_other_configurations() -> None:
    """Log-probs and updates of 87 runs, with the costs that the others give."""
    ratios = [off(ratio) for ratio in left_out(samples()).values()]
    assert len(ratios) == 174
    assert statistics.median(ratios) <= 1.11
    assert sum(ratio <= 1.5 for ratio in ratios) / len(ratios) >= 0.95
    assert max(ratios) <= 1.85


def test_the_costs_are_those_of_the_data() -> None:
    assert pytest.approx(fit(samples()), rel=0.01) == COSTS


def test_the_table_has_a_row_for_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert step_time.main() == 0
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 174 + 3 + len(MEASURED)
