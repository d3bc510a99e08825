"""Runs one rollout from the start of its sandbox to its score. It always gives one transcript."""

import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from skyrl_train.agent.draft import Draft
from skyrl_train.agent.guard import End, EndOfRolloutError, guarded
from skyrl_train.agent.turns import run_turns
from skyrl_train.contracts.agent.finish import MASKED, Finish
from skyrl_train.contracts.agent.limits import Limits
from skyrl_train.contracts.agent.ports import Model, OpenSandbox, Sandbox, Scorer, Task
from skyrl_train.contracts.agent.tools import TOOLS, Tool
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable, UnscorableReason

CANCELLED = End(Finish.CANCELLED, "cancelled from outside")


async def rollout(
    task: Task,
    model: Model,
    open_sandbox: OpenSandbox,
    limits: Limits,
    *,
    scorer: Scorer | None = None,
    tools: Sequence[Tool] = TOOLS,
    record: Callable[[Transcript], None] | None = None,
    now: Callable[[], float] = time.monotonic,
) -> Transcript:
    """Runs a task and returns its transcript. Raises only if cancelled. `record` is always called once."""
    draft = Draft(task, now, now())
    end, score = CANCELLED, None
    try:
        end, score = await _run(draft, model, open_sandbox, limits, scorer, tools)
    finally:
        transcript = draft.transcript(end.finish, end.detail, score)
        if record is not None:
            record(transcript)
    return transcript


async def _run(
    draft: Draft,
    model: Model,
    open_sandbox: OpenSandbox,
    limits: Limits,
    scorer: Scorer | None,
    tools: Sequence[Tool],
) -> tuple[End, Score | None]:
    stack = AsyncExitStack()
    try:
        late = End(Finish.ERROR_INITIALIZATION, f"the sandbox did not start within {limits.start_s:g} s")
        async with guarded(limits.start_s, late=late, failed=Finish.ERROR_INITIALIZATION):
            sandbox = await stack.enter_async_context(open_sandbox(draft.task))
        late = End(Finish.ROLLOUT_TIMEOUT, f"the rollout took longer than {limits.rollout_s:g} s")
        async with guarded(limits.rollout_s, late=late, failed=Finish.ERROR_RUNTIME):
            end = await run_turns(draft, model, sandbox, limits, tools)
        if scorer is None or end.finish in MASKED:
            return end, None
        return await _scored(draft, end, sandbox, scorer, limits, stack)
    except EndOfRolloutError as ended:
        return ended.end, None
    finally:
        await _close(stack, limits)


async def _scored(
    draft: Draft, end: End, sandbox: Sandbox, scorer: Scorer, limits: Limits, stack: AsyncExitStack
) -> tuple[End, Score]:
    """The score, or why there is none; then the end is `error_evaluation`. A `Grade` gets the slot of the sandbox."""
    late = End(Finish.ERROR_EVALUATION, f"scoring took longer than {limits.score_s:g} s")
    try:
        async with guarded(limits.score_s, late=late, failed=Finish.ERROR_EVALUATION):
            score = await scorer(sandbox, draft.transcript(end.finish, end.detail))
            if not isinstance(score, Scored | Unscorable):
                await _close(stack, limits)
                score = await score()
    except EndOfRolloutError as ended:
        return ended.end, Unscorable(UnscorableReason.SCORER_FAILED, ended.end.detail)
    if isinstance(score, Unscorable):
        return End(Finish.ERROR_EVALUATION, f"{score.reason}: {score.detail}"), score
    return end, score


async def _close(stack: AsyncExitStack, limits: Limits) -> None:
    """Removes the sandbox. A failure does not affect the rollout, since the runtime's reaper removes it later."""
    late = End(Finish.ERROR_RUNTIME, "the sandbox was not removed in time")
    try:
        async with guarded(limits.close_s, late=late, failed=Finish.ERROR_RUNTIME):
            await stack.aclose()
    except EndOfRolloutError:
        return
