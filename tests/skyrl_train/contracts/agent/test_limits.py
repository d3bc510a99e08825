"""Room for the next reply, and being stuck."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.agent.limits import Limits, is_stuck, reply_room, result_fits

LIMITS = Limits(model_len=4096, prompt_tokens=2048, response_tokens=2048, reply_tokens=1024)


@pytest.mark.parametrize(
    ("prompt", "response", "room"),
    [(100, 0, 1024), (100, 1500, 548), (3096, 0, 1000), (4096, 0, 0), (4000, 200, -104), (100, 2048, 0)],
)
def test_each_call_is_clamped_to_what_is_left(prompt: int, response: int, room: int) -> None:
    assert reply_room(LIMITS, prompt, response) == room


@given(st.integers(0, 5000), st.integers(0, 5000), st.integers(0, 5000))
def test_a_result_that_fits_leaves_room_for_a_token(prompt: int, response: int, result: int) -> None:
    assert result_fits(LIMITS, prompt, response, result) == (reply_room(LIMITS, prompt, response + result) > 0)


def test_the_engine_never_gets_more_than_its_context() -> None:
    """1297 prompt tokens and replies of 4000 do not go into 4096."""
    asked = replace(LIMITS, reply_tokens=4000, response_tokens=4000)
    assert reply_room(asked, 1297, 0) == 4096 - 1297


@pytest.mark.parametrize(
    ("turns", "stuck"),
    [
        ("", False),
        ("aaa", False),
        ("aaaa", True),
        ("baaaa", True),
        ("aaaab", False),
        ("abababab", True),
        ("abababa", False),
        ("xabababab", True),
        ("ababbaba", False),
        ("abcabcabcabc", False),
    ],
)
def test_stuck_is_one_turn_over_and_over_or_two_in_alternation(turns: str, *, stuck: bool) -> None:
    assert is_stuck(turns, repeats=4) is stuck


def test_a_single_repeat_never_counts() -> None:
    assert not is_stuck("a", repeats=1)


def test_limits_are_above_zero() -> None:
    with pytest.raises(ValueError, match=r"^limits must be above zero: reply_tokens is 0, rollout_s is -1$"):
        replace(LIMITS, reply_tokens=0, rollout_s=-1)
