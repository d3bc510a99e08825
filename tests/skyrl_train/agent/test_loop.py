"""Rollouts: the tokens, the ends, and that none hurts another."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from fakes.sandboxes import (
    DyingSandbox,
    EchoSandbox,
    HangingSandbox,
    ImpatientSandbox,
    NeverReadySandbox,
    SameSandbox,
    UnremovableSandbox,
    UnstartableSandbox,
)
from skyrl_train.agent.loop import rollout
from skyrl_train.agent.scripted import END_OF_TURN, ScriptedModel
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.call_errors import call_error
from skyrl_train.contracts.agent.calls import Call, CallError, CallErrorKind, Ended, Span
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.limits import Limits
from skyrl_train.contracts.agent.ports import Grade, Sandbox, Task
from skyrl_train.contracts.agent.transcript import Message, Reply, Result, Step, Transcript
from skyrl_train.contracts.payloads import from_json, to_json
from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable, UnscorableReason

TASK = Task(id="t", rollout_id="t-0", prompt=(Message(role="user", content="fix it"),))
LIMITS = Limits(model_len=100_000, prompt_tokens=1000, response_tokens=90_000, reply_tokens=1000)
DONE = "<function=finish>\n<parameter=message>done</parameter>\n</function>"
T = TypeVar("T")


def ls(what: str = "ls") -> str:
    return f"<function=terminal>\n<parameter=command>{what}</parameter>\n</function>"


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def played(
    replies: Sequence[str], sandbox: EchoSandbox | None = None, limits: Limits = LIMITS, **options: Any
) -> Transcript:
    opened = (sandbox or EchoSandbox()).opened
    return run(rollout(TASK, ScriptedModel(replies), opened, limits, **options))


def ends(transcript: Transcript) -> tuple[Finish, str]:
    return transcript.finish, transcript.detail


def tokens(text: str) -> tuple[int, ...]:
    return (*map(ord, text), END_OF_TURN)


def test_a_rollout_from_prompt_to_finish() -> None:
    clock = itertools.count()
    transcript = played([ls(), DONE], now=lambda: float(next(clock)))
    shown = "EXECUTION RESULT of [terminal]:\n1: ls"
    assert transcript == Transcript(
        task_id="t",
        rollout_id="t-0",
        prompt=TASK.prompt,
        prompt_ids=tokens("user: fix it"),
        steps=(
            Step(
                reply=Reply(token_ids=tokens(ls()), text=ls(), ended=Ended.STOP),
                call=Call("terminal", (("command", "ls"),), Span(0, len(ls()))),
                action=Action("terminal", {"command": "ls"}),
                result=Result(text="1: ls"),
                shown=shown,
                shown_ids=tokens("user: " + shown),
                reply_s=1.0,
                command_s=1.0,
            ),
            Step(
                reply=Reply(token_ids=tokens(DONE), text=DONE, ended=Ended.STOP),
                call=Call("finish", (("message", "done"),), Span(0, len(DONE))),
                action=Action("finish", {"message": "done"}),
                reply_s=1.0,
            ),
        ),
        finish=Finish.FINISH_TOOL,
        duration_s=7.0,
    )
    assert from_json(Transcript, to_json(transcript)) == transcript


class Listener(ScriptedModel):
    """Keeps what it was asked."""

    def __init__(self, replies: Sequence[str]) -> None:
        super().__init__(replies)
        self.asked: list[tuple[tuple[int, ...], int]] = []

    async def reply(self, token_ids: Sequence[int], *, max_tokens: int) -> Reply:
        self.asked.append((tuple(token_ids), max_tokens))
        return await super().reply(token_ids, max_tokens=max_tokens)


def test_the_model_is_asked_with_the_tokens_of_the_record() -> None:
    model = Listener([ls("a"), "no call", ls("b"), DONE])
    transcript = run(rollout(TASK, model, EchoSandbox().opened, LIMITS))
    whole = transcript.prompt_ids + transcript.response_ids
    for ids, _ in model.asked:
        assert whole[: len(ids)] == ids
    ends_of_turns = [len(ids) - len(transcript.prompt_ids) for ids, _ in model.asked]
    wrote = [len(step.reply.token_ids) for step in transcript.steps]
    for start, length in zip(ends_of_turns, wrote, strict=True):
        assert set(transcript.response_mask[start : start + length]) == {1}
    assert sum(transcript.response_mask) == sum(wrote)


def test_every_call_is_clamped_to_the_room_that_is_left() -> None:
    model = Listener([ls("a"), ls("b"), DONE])
    limits = replace(LIMITS, model_len=600, response_tokens=500, reply_tokens=200)
    run(rollout(TASK, model, EchoSandbox().opened, limits))
    assert [room for _, room in model.asked] == [
        min(200, 500 - (len(ids) - 13), 600 - len(ids)) for ids, _ in model.asked
    ]


def test_a_cut_reply_is_followed_by_an_end_of_turn() -> None:
    limits = replace(LIMITS, reply_tokens=20)
    transcript = played([ls(), ls()], limits=limits)
    first = transcript.steps[0]
    assert first.call == call_error(CallErrorKind.CUT_BY_LENGTH, Span(0, 20))
    assert first.result is None
    assert first.shown_ids == (END_OF_TURN, *tokens("user: " + first.shown))


def test_what_the_model_is_shown_is_short_and_what_is_kept_is_whole() -> None:
    limits = replace(LIMITS, result_chars=100)
    step = played([ls(), DONE], SameSandbox("x" * 5000), limits).steps[0]
    assert step.result == Result(text="x" * 5000)
    assert len(step.shown) == len("EXECUTION RESULT of [terminal]:\n") + 100


def test_the_model_reads_why_its_call_was_not_run() -> None:
    transcript = played(["<function=ls>\n</function>", DONE])
    step = transcript.steps[0]
    assert isinstance(step.call, CallError)
    assert (
        step.shown
        == "The function 'ls' does not exist, so nothing was run. Functions: terminal, file_editor, finish, think."
    )


def test_only_the_first_call_of_a_reply_is_run() -> None:
    sandbox = EchoSandbox()
    transcript = played([ls("a") + ls("b"), DONE], sandbox)
    assert [action.arguments["command"] for action, _ in sandbox.ran] == ["a"]
    assert transcript.steps[0].shown.endswith("[Only the first call of a reply is run; 1 more were ignored.]")


def test_a_thought_needs_no_sandbox() -> None:
    sandbox = EchoSandbox()
    transcript = played(["<function=think>\n<parameter=thought>hm</parameter>\n</function>", DONE], sandbox)
    assert sandbox.ran == []
    assert transcript.steps[0].result == Result(text="Your thought has been noted.")


@pytest.mark.parametrize(("asked", "limit_s"), [("5", 5.0), ("500", 120.0), ("0", 120.0)])
def test_the_model_may_ask_for_less_time_not_for_more(asked: str, limit_s: float) -> None:
    sandbox = EchoSandbox()
    call = ls().replace("</function>", f"<parameter=timeout>{asked}</parameter>\n</function>")
    played([call, DONE], sandbox)
    assert [limit for _, limit in sandbox.ran] == [limit_s]


def test_text_that_is_no_unicode_can_still_be_written_down() -> None:
    transcript = played(["caf\udce9 " + ls(), DONE], SameSandbox("\udcff"))
    assert transcript.steps[0].reply.text.startswith("caf? <function")
    assert transcript.steps[0].result == Result(text="?")
    assert from_json(Transcript, to_json(transcript)) == transcript


@pytest.mark.parametrize(
    ("replies", "limits", "end"),
    [
        (["I am done."] * 5, {}, (Finish.NO_FUNCTION_CALL, "3 replies in a row without a valid call")),
        ([""], {}, (Finish.BAD_LLM_RESPONSE, "the reply was empty")),
        ([ls(str(i)) for i in range(9)], {"turns": 4}, (Finish.MAX_ITERATIONS_REACHED, "4 turns")),
        (
            [DONE],
            {"prompt_tokens": 12},
            (Finish.CONTEXT_WINDOW_EXCEEDED, "the prompt has 13 tokens, but at most 12 are allowed"),
        ),
        (
            [ls()] * 9,
            {"response_tokens": 200},
            (Finish.CONTEXT_WINDOW_EXCEEDED, "13 tokens of prompt, 176 of response"),
        ),
        (
            [ls() + "x" * 500],
            {"model_len": 80},
            (Finish.CONTEXT_WINDOW_EXCEEDED, "13 tokens of prompt, 67 of response"),
        ),
    ],
)
def test_ends_of_its_own(replies: list[str], limits: dict[str, Any], end: tuple[Finish, str]) -> None:
    assert ends(played(replies, limits=replace(LIMITS, **limits))) == end


def test_the_same_turn_over_and_over_is_an_end() -> None:
    end = (Finish.STUCK_IN_A_LOOP, "the same turns 4 times in a row")
    assert ends(played([ls()] * 9, SameSandbox("nothing"))) == end
    assert ends(played([ls("a"), ls("b")] * 9, SameSandbox("nothing"))) == end
    assert ends(played([f"{i} {ls()}" for i in range(9)], SameSandbox("nothing"))) == end
    transcript = played([ls()] * 9 + [DONE], EchoSandbox())
    assert (transcript.finish, len(transcript.steps)) == (Finish.FINISH_TOOL, 10)


def test_nothing_is_shown_after_the_last_reply() -> None:
    for transcript in (played([ls()] * 9, SameSandbox("x")), played(["no"] * 9), played([DONE])):
        assert transcript.steps[-1].shown_ids == ()
        assert transcript.response_mask[-1] == 1


@pytest.mark.parametrize(
    ("sandbox", "limits", "finish", "detail"),
    [
        (DyingSandbox(), {}, Finish.ERROR_RUNTIME, "ConnectionResetError: Connection reset by peer (sandboxes.py:"),
        (ImpatientSandbox(), {}, Finish.ERROR_RUNTIME, "TimeoutError: read timed out (sandboxes.py:"),
        (
            HangingSandbox(),
            {"command_s": 0.01, "grace_s": 0.01},
            Finish.CMD_TIMEOUT,
            "the sandbox did not answer within 0.02 s",
        ),
        (HangingSandbox(), {"rollout_s": 0.02}, Finish.ROLLOUT_TIMEOUT, "the rollout took longer than 0.02 s"),
        (
            UnstartableSandbox(),
            {},
            Finish.ERROR_INITIALIZATION,
            "ConnectionRefusedError: Connection refused (sandboxes.py:",
        ),
        (
            NeverReadySandbox(),
            {"start_s": 0.02},
            Finish.ERROR_INITIALIZATION,
            "the sandbox did not start within 0.02 s",
        ),
    ],
)
def test_a_sandbox_that_fails(sandbox: EchoSandbox, limits: dict[str, Any], finish: Finish, detail: str) -> None:
    transcript = played([ls("a"), ls("b"), DONE], sandbox, replace(LIMITS, **limits))
    assert transcript.finish is finish
    assert transcript.detail.startswith(detail)
    assert transcript.masked
    assert transcript.score is None


def test_a_command_that_was_lost_leaves_its_call_in_the_record() -> None:
    transcript = played([ls("a"), ls("b")], DyingSandbox())
    assert [step.action and step.action.arguments["command"] for step in transcript.steps] == ["a", "b"]
    assert transcript.steps[-1].result is None


class OddModel(ScriptedModel):
    """Does something of its own with the room that it is given."""

    def __init__(self, answer: Callable[[int], Coroutine[Any, Any, Reply]]) -> None:
        super().__init__([])
        self.answer = answer

    async def reply(self, token_ids: Sequence[int], *, max_tokens: int) -> Reply:
        assert token_ids
        return await self.answer(max_tokens)


async def gone(_room: int) -> Reply:
    raise RuntimeError("engine is gone")


async def talkative(room: int) -> Reply:
    return Reply(token_ids=(1,) * (room + 1), text="x", ended=Ended.STOP)


async def closed(_room: int) -> Reply:
    """As a client does whose connection was closed while it waited."""
    waited = asyncio.get_running_loop().create_future()
    waited.cancel()
    await waited
    raise AssertionError


async def silent(_room: int) -> Reply:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize(
    ("model", "detail"),
    [
        (OddModel(gone), "RuntimeError: engine is gone (test_loop.py:"),
        (OddModel(closed), "asyncio.exceptions.CancelledError (test_loop.py:"),
        (OddModel(talkative), "the engine wrote 1001 tokens, but at most 1000 are allowed"),
        (OddModel(silent), "the engine timed out after 0.02 s"),
    ],
)
def test_a_model_that_fails(model: ScriptedModel, detail: str) -> None:
    transcript = run(rollout(TASK, model, EchoSandbox().opened, replace(LIMITS, reply_s=0.02)))
    assert transcript.finish is Finish.ERROR_MODEL
    assert transcript.detail.startswith(detail)
    assert transcript.masked


@pytest.mark.parametrize("model", [ScriptedModel([DONE]), OddModel(gone)])
def test_the_sandbox_is_removed_before_the_record_is_made(model: ScriptedModel) -> None:
    sandbox, closed = EchoSandbox(), []
    run(rollout(TASK, model, sandbox.opened, LIMITS, record=lambda _: closed.append(sandbox.closed)))
    assert closed == [True]


def test_a_sandbox_that_cannot_be_removed_takes_nothing_away() -> None:
    assert ends(played([DONE], UnremovableSandbox())) == (Finish.FINISH_TOOL, "")


async def full_marks(sandbox: Sandbox, transcript: Transcript) -> Score:
    result = await sandbox.run(Action("terminal", {"command": "run_tests.sh"}), limit_s=1.0)
    return Scored(1.0, f"{transcript.finish} {result.text}")


async def lost(_sandbox: Sandbox, _transcript: Transcript) -> Score:
    return Unscorable(UnscorableReason.TESTS_MISSING, "r2e_tests is not in the sandbox")


async def broken(_sandbox: Sandbox, _transcript: Transcript) -> Score:
    raise KeyError("expected_output_json")


async def endless(_sandbox: Sandbox, _transcript: Transcript) -> Score:
    await asyncio.Event().wait()
    raise AssertionError


def test_a_finished_rollout_is_scored_in_its_own_sandbox() -> None:
    transcript = played([ls(), DONE], scorer=full_marks)
    assert transcript.score == Scored(1.0, "FINISH_TOOL 2: run_tests.sh")
    assert not transcript.masked


def test_a_grade_is_computed_after_the_sandbox_was_removed() -> None:
    sandbox = EchoSandbox()

    async def take(_sandbox: Sandbox, _transcript: Transcript) -> Grade:
        assert not sandbox.closed

        async def grade() -> Score:
            return Scored(float(sandbox.closed))

        return grade

    assert played([ls(), DONE], sandbox, scorer=take).score == Scored(1.0)


def test_a_rollout_that_was_cut_off_is_not_scored() -> None:
    transcript = played([ls()] * 9, SameSandbox("x"), scorer=full_marks)
    assert (transcript.finish, transcript.score) == (Finish.STUCK_IN_A_LOOP, None)


def test_a_score_that_fails_is_no_zero() -> None:
    assert ends(played([DONE], scorer=lost)) == (
        Finish.ERROR_EVALUATION,
        "tests_missing: r2e_tests is not in the sandbox",
    )
    late = played([DONE], scorer=endless, limits=replace(LIMITS, score_s=0.02))
    detail = "scoring took longer than 0.02 s"
    assert (ends(late), late.score) == (
        (Finish.ERROR_EVALUATION, detail),
        Unscorable(UnscorableReason.SCORER_FAILED, detail),
    )
    failed = played([DONE], scorer=broken)
    assert failed.finish is Finish.ERROR_EVALUATION
    assert failed.detail.startswith("KeyError: 'expected_output_json' (test_loop.py:")
    assert failed.masked


def test_a_cancelled_rollout_leaves_its_record_and_its_sandbox() -> None:
    async def cancelled() -> tuple[list[Transcript], HangingSandbox]:
        records: list[Transcript] = []
        sandbox = HangingSandbox()
        task = asyncio.create_task(rollout(TASK, ScriptedModel([ls()]), sandbox.opened, LIMITS, record=records.append))
        while not sandbox.ran:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return records, sandbox

    (record,), sandbox = run(cancelled())
    assert ends(record) == (Finish.CANCELLED, "cancelled from outside")
    assert len(record.steps) == 1
    assert sandbox.closed


def test_one_that_raises_one_that_hangs_and_one_that_dies_do_not_hurt_the_others() -> None:
    limits = replace(LIMITS, command_s=0.05, grace_s=0.05)
    records: list[Transcript] = []
    good = [ScriptedModel([*(ls(str(i)) for i in range(5)), DONE]) for _ in range(61)]

    async def batch() -> list[Transcript]:
        work = [
            rollout(TASK, OddModel(gone), EchoSandbox().opened, limits, record=records.append),
            rollout(TASK, ScriptedModel([ls()]), HangingSandbox().opened, limits, record=records.append),
            rollout(TASK, ScriptedModel([ls("a"), ls("b")]), DyingSandbox().opened, limits, record=records.append),
            *(rollout(TASK, model, EchoSandbox().opened, limits, record=records.append) for model in good),
        ]
        return await asyncio.gather(*work)

    transcripts = run(batch())
    assert [t.finish for t in transcripts[:3]] == [Finish.ERROR_MODEL, Finish.CMD_TIMEOUT, Finish.ERROR_RUNTIME]
    assert {(t.finish, len(t.steps)) for t in transcripts[3:]} == {(Finish.FINISH_TOOL, 6)}
    assert len(records) == 64
