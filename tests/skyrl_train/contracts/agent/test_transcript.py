"""Tokens and masks of a record."""

from dataclasses import replace

from skyrl_train.contracts.agent.calls import Call, Ended, Span
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.transcript import Reply, Step, Transcript
from skyrl_train.contracts.rewards.score import Scored, Unscorable, UnscorableReason


def step(reply_ids: tuple[int, ...], shown_ids: tuple[int, ...]) -> Step:
    reply = Reply(token_ids=reply_ids, text="", ended=Ended.STOP)
    return Step(reply=reply, call=Call("terminal", (), Span(0, 0)), shown_ids=shown_ids)


TRANSCRIPT = Transcript(
    task_id="t",
    rollout_id="t-0",
    prompt=(),
    prompt_ids=(1, 2),
    steps=(step((3, 4), (5,)), step((6,), ())),
    finish=Finish.FINISH_TOOL,
    score=Scored(0.0),
)


def test_what_the_model_wrote_is_trained_on_and_what_it_was_shown_is_not() -> None:
    assert TRANSCRIPT.response_ids == (3, 4, 5, 6)
    assert TRANSCRIPT.response_mask == (1, 1, 0, 1)


def test_a_zero_counts_and_a_missing_score_does_not() -> None:
    assert not TRANSCRIPT.masked
    assert replace(TRANSCRIPT, score=Unscorable(UnscorableReason.SANDBOX_FAILED, "gone")).masked


def test_cut_off_and_empty_rollouts_are_masked() -> None:
    assert replace(TRANSCRIPT, finish=Finish.MAX_ITERATIONS_REACHED).masked
    assert replace(TRANSCRIPT, steps=()).masked
