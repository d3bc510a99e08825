"""How predictions are compared with measurements: signs, shares, limits, and what is left out."""

from dataclasses import replace

import pytest

from benchmarks.calibration.evaluate import Point, micro_batches, reserved_without, slack, wrong_verdicts
from benchmarks.calibration.kinds import quantiles
from skyrl_train.memory import GIB, Component, Job, Lengths, Phase, PhaseBudget

JOB = Job(prompt_length=8, response_length=8)


def point(name: str, *, predicted: float, allocated: float, reserved: float) -> Point:
    """A run with one phase, in GiB."""
    peak = {"allocated_gib": allocated, "reserved_gib": reserved}
    phase = PhaseBudget(Phase.UPDATE, {Component.WEIGHTS: round(predicted * GIB)})
    return Point({"id": name, "phases": {"update_2": {"peak": peak}}}, JOB, {Phase.UPDATE: phase})


def test_too_much_is_positive_and_a_share_of_what_was_measured() -> None:
    found = [point("a", predicted=size, allocated=20, reserved=22).off for size in (25, 15)]
    assert found == [0.25, -0.25]


@pytest.mark.parametrize(
    ("predicted", "allocated", "reserved", "wrong"),
    [
        (19, 19, 19.5, []),
        (23, 19, 19.5, ["a: predicted 23.00 against 20 GiB"]),  # it fitted 20, and is said not to
        (19, 21, 23, ["a: predicted 19.00 against 20 GiB"]),  # it did not fit, and is said to
        (23, 19, 22, []),  # between the two only a run under that limit can tell
        (39.9, 39.9, 39.95, ["a: predicted 39.90 against 40 GiB"]),  # the slack counts
    ],
)
def test_a_verdict_is_wrong_on_both_sides_of_a_limit(
    predicted: float, allocated: float, reserved: float, wrong: list[str]
) -> None:
    assert wrong_verdicts([point("a", predicted=predicted, allocated=allocated, reserved=reserved)]) == wrong


def test_a_run_is_not_predicted_with_its_own_measurement() -> None:
    runs = [point(name, predicted=10, allocated=10, reserved=size) for name, size in (("a", 11), ("b", 12), ("c", 30))]
    assert [reserved_without(runs, each) for each in runs] == pytest.approx([21, 20.5, 11.5])
    assert slack(runs) == pytest.approx(0.2)


def test_samples_are_dealt_out_to_the_ranks_that_do_not_share_a_sequence() -> None:
    lengths = [1, 2, 3, 4, 5, 6, 7, 8]
    job = replace(JOB, n_gpus=4, sequence_parallel=2, micro_batch=3)
    assert list(micro_batches(lengths, job)) == [[1, 3, 5], [7], [2, 4, 6], [8]]
    assert list(micro_batches(lengths, replace(job, max_tokens=100))) == [[1, 3, 5, 7], [2, 4, 6, 8]]


def test_the_percentiles_of_a_run() -> None:
    assert quantiles([*range(1, 201)]) == Lengths(100, 198)
    assert quantiles([5, 1, 3]) == Lengths(3, 5)
