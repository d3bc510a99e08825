import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.agent.calls import CallError, CallErrorKind, Ended, Span
from skyrl_train.contracts.agent.finish import MASKED, Finish
from skyrl_train.contracts.agent.transcript import Message, Reply, Step, Transcript
from skyrl_train.contracts.rewards.score import Scored, Unscorable, UnscorableReason
from skyrl_train.rl.trained import Trained, Untrained, comparable, trained

ERROR = CallError(kind=CallErrorKind.NO_CALL, span=Span(0, 0), text="")


def step(written: tuple[int, ...], shown: tuple[int, ...] = (), logprobs: tuple[float, ...] | None = None) -> Step:
    found = tuple(-0.5 for _ in written) if logprobs is None else logprobs
    return Step(reply=Reply(token_ids=written, text="x", ended=Ended.STOP, logprobs=found), call=ERROR, shown_ids=shown)


ROLLOUT = Transcript(
    task_id="t",
    rollout_id="t-0",
    prompt=(Message(role="user", content="p"),),
    prompt_ids=(1, 2),
    steps=(step((3, 4), (5, 6)), step((7,))),
    finish=Finish.FINISH_TOOL,
    score=Scored(1.0),
)


def test_two_turns_make_one_row_whose_mask_tells_who_wrote_what() -> None:
    assert trained(ROLLOUT) == Trained(
        prompt_ids=[1, 2],
        response_ids=[3, 4, 5, 6, 7],
        mask=[1, 1, 0, 0, 1],
        logprobs=[-0.5, -0.5, 0.0, 0.0, -0.5],
        reward=1.0,
        turns=2,
    )


def test_the_row_ends_with_the_last_token_that_the_model_wrote() -> None:
    """verl puts the reward on the last token, which must not be one that the model was shown."""
    shown_last = replace(ROLLOUT, steps=(step((3, 4), (5, 6)),))
    made = trained(shown_last)
    assert isinstance(made, Trained)
    assert (made.response_ids, made.mask, made.logprobs) == ([3, 4], [1, 1], [-0.5, -0.5])


@pytest.mark.parametrize("finish", sorted(MASKED))
def test_a_masked_end_makes_no_row(finish: Finish) -> None:
    assert trained(replace(ROLLOUT, finish=finish, detail="why")) == Untrained(f"{finish}: why")


@pytest.mark.parametrize(
    ("rollout", "why"),
    [
        (replace(ROLLOUT, steps=()), "FINISH_TOOL"),
        (replace(ROLLOUT, score=None), "the rollout has no score"),
        (replace(ROLLOUT, score=Unscorable(UnscorableReason.TESTS_MISSING, "none")), "FINISH_TOOL"),
        (replace(ROLLOUT, score=Scored(math.nan)), "the reward is nan"),
        (replace(ROLLOUT, score=Scored(math.inf)), "the reward is inf"),
        (replace(ROLLOUT, steps=(step((), (5, 6)),)), "the model wrote no token"),
        (replace(ROLLOUT, prompt_ids=()), "the prompt has no token"),
        (
            replace(ROLLOUT, steps=(step((3,), logprobs=(-math.inf,)),)),
            "the engine's log-probabilities are not finite",
        ),
        (replace(ROLLOUT, steps=(step((3, 4), logprobs=(-0.5,)),)), "the engine's log-probabilities are not finite"),
    ],
)
def test_what_cannot_be_trained_on_makes_no_row(rollout: Transcript, why: str) -> None:
    assert trained(rollout) == Untrained(why)


tokens = st.lists(st.integers(0, 9), max_size=4).map(tuple)


@given(st.lists(st.tuples(tokens, tokens), max_size=5))
def test_any_turns_make_a_whole_row_or_none(turns: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    made = trained(replace(ROLLOUT, steps=tuple(step(*turn) for turn in turns)))
    if isinstance(made, Untrained):
        assert not any(written for written, _ in turns)
        return
    assert len(made.response_ids) == len(made.mask) == len(made.logprobs)
    assert made.mask[-1] == 1
    assert sum(made.mask) == sum(len(written) for written, _ in turns)


KEYS = ["a_0_0", "a_1_0", "b_1_0", "c_0_0", "c_1_0"]


@pytest.mark.parametrize(
    ("advantage", "n", "alone"),
    [("grpo", 2, ["b_1_0"]), ("rloo", 2, ["b_1_0"]), ("gae", 2, []), ("grpo", 1, []), ("reinforce_plus_plus", 2, [])],
)
def test_a_rollout_without_another_to_compare_with_is_left_out(advantage: str, n: int, alone: list[str]) -> None:
    stay, go = comparable(KEYS, advantage=advantage, n=n)
    assert go == alone
    assert stay == [key for key in KEYS if key not in alone]


def test_no_rows_at_all() -> None:
    assert comparable([], advantage="grpo", n=2) == ([], [])
