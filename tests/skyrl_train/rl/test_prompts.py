from typing import Any

import pytest

from skyrl_train.rl.prompts import ages, ended, orphans


def prompt(step: int, status: str = "finished") -> dict[str, Any]:
    return {"is_prompt": True, "status": status, "global_steps": step}


def row(first: int, last: int) -> dict[str, Any]:
    return {"status": "success", "min_global_steps": first, "max_global_steps": last}


def test_the_oldest_prompts_come_first_and_failed_ones_count() -> None:
    tags = {"new": prompt(4), "old": prompt(2, "failure"), "old_0_0": row(1, 1), "runs": prompt(4, "running")}
    assert ended(tags, step=4, most_steps=4) == ["old", "new"]


@pytest.mark.parametrize(("step", "found"), [(4, ["done"]), (5, [])])
def test_a_step_waits_for_a_prompt_that_the_next_one_could_not_take(step: int, found: list[str]) -> None:
    """Asked for in step 2, it takes part in its fourth step when step 5 runs."""
    tags = {"done": prompt(step), "late": prompt(2, "running"), "waits": prompt(step, "pending")}
    assert ended(tags, step=step, most_steps=4) == found


def test_a_prompt_at_the_limit_is_taken_once_it_has_ended() -> None:
    assert ended({"late": prompt(2), "done": prompt(5)}, step=5, most_steps=4) == ["late", "done"]


def test_rows_whose_prompt_is_gone_are_left_over() -> None:
    tags = {"a": prompt(1), "a_0_0": row(0, 0), "b_0_0": row(0, 0), "b_1_0": row(0, 0)}
    assert orphans(tags) == ["b_0_0", "b_1_0"]


def test_ages_count_steps_and_interrupted_rollouts() -> None:
    tags = {"a": prompt(3), "b": prompt(1), "a_0_0": row(2, 2), "b_0_0": row(0, 2), "b_1_0": {"status": "success"}}
    assert ages(tags, ["a", "b"], ["a_0_0", "b_0_0", "b_1_0"], step=3) == {
        "rollout_metrics/staleness_mean": 1.0,
        "rollout_metrics/staleness_max": 2.0,
        "rollout_metrics/num_interrupted": 1.0,
    }


def test_without_prompts_nothing_is_old() -> None:
    assert set(ages({}, [], [], step=1).values()) == {0.0}
