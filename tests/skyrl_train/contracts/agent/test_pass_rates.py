import itertools
import math

import pytest

from skyrl_train.contracts.agent.pass_rates import (
    Outcome,
    as_json,
    bootstrap,
    by_repository,
    described,
    pass_at,
    pass_rates,
    wilson,
)


def outcomes(*tasks: str, repository: str = "r") -> list[Outcome]:
    """Each task is a text: + solved, - not solved, ? without a result."""
    meant = {"+": True, "-": False, "?": None}
    return [
        Outcome(task=f"{repository}{number}", repository=repository, solved=meant[one])
        for number, task in enumerate(tasks)
        for one in task
    ]


@pytest.mark.parametrize(("solved", "of"), [(solved, of) for of in range(1, 7) for solved in range(of + 1)])
def test_pass_at_k_is_the_share_of_all_choices_of_k_rollouts_with_a_solution(solved: int, of: int) -> None:
    rollouts = [True] * solved + [False] * (of - solved)
    for k in range(1, of + 1):
        choices = [any(chosen) for chosen in itertools.combinations(rollouts, k)]
        assert pass_at(k, solved=solved, of=of) == pytest.approx(sum(choices) / len(choices))


def test_pass_at_k_of_fewer_rollouts_is_no_figure() -> None:
    with pytest.raises(ValueError, match="pass@3 of 2 rollouts"):
        pass_at(3, solved=1, of=2)


@pytest.mark.parametrize(
    ("solved", "trials", "low", "high"),
    [  # of the formula, by hand
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (1, 100, 0.0018, 0.0545),
    ],
)
def test_wilson(solved: int, trials: int, low: float, high: float) -> None:
    assert wilson(solved / trials, trials) == pytest.approx((low, high), abs=5e-5)


def test_wilson_covers_a_true_rate_about_as_often_as_it_says() -> None:
    """Exactly, over all outcomes of 40 tasks; the score interval has 92 to 98 % here."""
    for true in (0.05, 0.2, 0.5, 0.8):
        covered = math.fsum(
            math.comb(40, solved) * true**solved * (1 - true) ** (40 - solved)
            for solved in range(41)
            if wilson(solved / 40, 40)[0] <= true <= wilson(solved / 40, 40)[1]
        )
        assert 0.92 < covered < 0.98


def test_bootstrap_is_repeatable_and_lies_around_the_mean() -> None:
    values = [1.0] * 30 + [0.0] * 70
    low, high = bootstrap(values)
    assert (low, high) == bootstrap(values)
    assert 0.19 < low < 0.24
    assert 0.36 < high < 0.41


def test_rollouts_of_one_task_do_not_narrow_the_interval() -> None:
    """Twenty rollouts that all agree say no more than one."""
    once, often = (pass_rates(outcomes(*["+" * n, "-" * n] * 5), [1]).rates[0] for n in (1, 20))
    assert (once.rate, once.wilson, once.bootstrap) == (often.rate, often.wilson, often.bootstrap)


def test_a_rollout_without_a_result_counts_for_nothing_but_itself() -> None:
    found = pass_rates(outcomes("+-?", "??-", "???"), [1, 2])
    assert [(one.k, one.rate, one.tasks) for one in found.rates] == [(1, 0.25, 2), (2, 1.0, 1)]
    assert (found.tasks, found.rollouts, found.without_result) == (3, 9, 6)


def test_nothing_to_count_is_no_rate() -> None:
    assert pass_rates(outcomes("?"), [1]).rates == ()


def test_each_repository_has_its_own_rates() -> None:
    found = by_repository([*outcomes("+", "+", repository="b"), *outcomes("-", repository="a")], [1])
    assert {name: one.rates[0].rate for name, one in found.items()} == {"a": 0.0, "b": 1.0}


def test_the_report_names_both_intervals() -> None:
    found = pass_rates(outcomes("+", "-"), [1])
    assert described(found) == "pass@1 0.500 (0.095 to 0.905)"
    assert as_json(found) == {
        "tasks": 2,
        "rollouts": 2,
        "without_result": 0,
        "pass": {
            "1": {
                "rate": 0.5,
                "wilson_95": [*wilson(0.5, 2)],
                "bootstrap_95": [0.0, 1.0],
                "tasks": 2,
            }
        },
    }
