import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.rl.prompts import ages, batch_of, orphans


def prompt(step: int, status: str = "finished") -> dict[str, Any]:
    return {"is_prompt": True, "status": status, "global_steps": step}


def row(first: int, last: int) -> dict[str, Any]:
    return {"status": "success", "min_global_steps": first, "max_global_steps": last}


def test_the_oldest_prompts_come_first_and_failed_ones_count() -> None:
    tags = {"new": prompt(4), "old": prompt(2, "failure"), "old_0_0": row(1, 1), "runs": prompt(4, "running")}
    assert batch_of(tags, step=4, size=2, most_steps=4) == ["old", "new"]
    assert batch_of(tags, step=4, size=3, most_steps=4) == []


@pytest.mark.parametrize(("step", "found"), [(4, ["done"]), (5, [])])
def test_a_step_waits_for_a_prompt_that_the_next_one_could_not_take(step: int, found: list[str]) -> None:
    """Asked for in step 2, it takes part in its fourth step when step 5 runs."""
    tags = {"done": prompt(step), "late": prompt(2, "running"), "waits": prompt(step, "pending")}
    assert batch_of(tags, step=step, size=1, most_steps=4) == found


def test_a_prompt_at_the_limit_is_taken_once_it_has_ended() -> None:
    assert batch_of({"late": prompt(2), "done": prompt(5)}, step=5, size=1, most_steps=4) == ["late"]


@pytest.mark.parametrize(("ahead", "most"), [(1, 2), (1, 4), (2, 3), (2, 4), (3, 4), (3, 6)])
@given(data=st.data())
def test_no_prompt_takes_part_in_more_steps_than_it_may(ahead: int, most: int, data: st.DataObject) -> None:
    """Whatever order they end in: each step asks for as many as it takes, and waits where it must."""
    size, tags, number = 2, {}, itertools.count()

    def ask(step: int, count: int) -> None:
        tags.update({f"p{next(number)}": prompt(step, "running") for _ in range(count)})

    ask(1, ahead * size)
    for step in range(1, 9):
        ask(step, size)
        while not (taken := batch_of(tags, step=step, size=size, most_steps=most)):
            running = [key for key, tag in tags.items() if tag["status"] == "running"]
            tags[data.draw(st.sampled_from(running))]["status"] = "finished"
        for key in taken:
            assert step - tags.pop(key)["global_steps"] + 1 <= most


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
