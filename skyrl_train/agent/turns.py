"""Runs the turns of a rollout: the model writes, the sandbox answers, until one of the ends in `Finish`."""

from collections.abc import Hashable, Sequence

from skyrl_train.agent.draft import Draft
from skyrl_train.agent.guard import End, guarded
from skyrl_train.contracts.agent.arguments import Action, check_call
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Call, CallError, CallErrorKind
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.limits import Limits, is_stuck, reply_room, result_fits
from skyrl_train.contracts.agent.ports import Model, Sandbox
from skyrl_train.contracts.agent.results import result_message, shortened
from skyrl_train.contracts.agent.tools import FINISH, THINK, Tool
from skyrl_train.contracts.agent.transcript import Result, Step, valid_reply, valid_result

THOUGHT_NOTED = "Your thought has been noted."


async def run_turns(draft: Draft, model: Model, sandbox: Sandbox, limits: Limits, tools: Sequence[Tool]) -> End:
    """Runs all turns; the end. Each turn is stored in the draft, even if this is cancelled."""
    draft.start(model.begin(draft.task.prompt))
    if draft.prompt > limits.prompt_tokens:
        return End(
            Finish.CONTEXT_WINDOW_EXCEEDED,
            f"the prompt has {draft.prompt} tokens, but at most {limits.prompt_tokens} are allowed",
        )
    while True:
        end = await _turn(draft, model, sandbox, limits, tools)
        if end is not None:
            return end


async def _turn(draft: Draft, model: Model, sandbox: Sandbox, limits: Limits, tools: Sequence[Tool]) -> End | None:
    room = reply_room(limits, draft.prompt, draft.response)
    if room < 1:
        return _full(draft)
    begin = draft.now()
    late = End(Finish.ERROR_MODEL, f"the engine timed out after {limits.reply_s:g} s")
    async with guarded(limits.reply_s, late=late, failed=Finish.ERROR_MODEL):
        reply = valid_reply(await model.reply(draft.ids, max_tokens=room))
    if len(reply.token_ids) > room:
        return End(
            Finish.ERROR_MODEL, f"the engine wrote {len(reply.token_ids)} tokens, but at most {room} are allowed"
        )
    call = parse_call(reply.text, ended=reply.ended)
    action = check_call(call, tools) if isinstance(call, Call) else call
    read = action if isinstance(action, CallError) else call
    draft.add(Step(reply=reply, call=read, reply_s=draft.now() - begin))
    end = await _act(draft, action, sandbox, limits)
    return end or _no_further(draft.steps, limits) or _answer(draft, model, limits)


def _full(draft: Draft) -> End:
    return End(Finish.CONTEXT_WINDOW_EXCEEDED, f"{draft.prompt} tokens of prompt, {draft.response} of response")


async def _act(draft: Draft, action: Action | CallError, sandbox: Sandbox, limits: Limits) -> End | None:
    """Runs the action, if there is one, and stores the full result in the last step."""
    if isinstance(action, CallError):
        empty = action.kind is CallErrorKind.EMPTY_REPLY
        return End(Finish.BAD_LLM_RESPONSE, "the reply was empty") if empty else None
    draft.amend(action=action)
    if action.tool == FINISH.name:
        return End(Finish.FINISH_TOOL)
    if action.tool == THINK.name:
        draft.amend(result=Result(text=THOUGHT_NOTED))
        return None
    begin, limit_s = draft.now(), _limit_s(action, limits)
    late = End(Finish.CMD_TIMEOUT, f"the sandbox did not answer within {limit_s + limits.grace_s:g} s")
    async with guarded(limit_s + limits.grace_s, late=late, failed=Finish.ERROR_RUNTIME):
        result = valid_result(await sandbox.run(action, limit_s=limit_s))
    draft.amend(result=result, command_s=draft.now() - begin)
    return None


def _limit_s(action: Action, limits: Limits) -> float:
    """The time limit of a command: the model's timeout if it is shorter than ours and not 0."""
    asked = action.arguments.get("timeout")
    return min(float(asked), limits.command_s) if isinstance(asked, (int, float)) and asked else limits.command_s


def _answer(draft: Draft, model: Model, limits: Limits) -> End | None:
    """Adds the message with the result, if there is room for another reply."""
    step = draft.steps[-1]
    text = _answer_text(step, limits)
    ids = model.follow(text, after=step.reply)
    if not result_fits(limits, draft.prompt, draft.response, len(ids)):
        return _full(draft)
    draft.show(text, ids)
    return None


def _answer_text(step: Step, limits: Limits) -> str:
    if isinstance(step.call, CallError) or step.action is None or step.result is None:
        return step.call.text if isinstance(step.call, CallError) else ""
    shown = shortened(step.result.text, limits.result_chars)
    return result_message(step.action.tool, shown, ignored_calls=step.call.ignored_calls)


def _no_further(steps: Sequence[Step], limits: Limits) -> End | None:
    """The end if the model calls nothing, repeats itself or has used all turns; else None."""
    if len(steps) >= limits.idle_turns and all(isinstance(s.call, CallError) for s in steps[-limits.idle_turns :]):
        return End(Finish.NO_FUNCTION_CALL, f"{limits.idle_turns} replies in a row without a valid call")
    if is_stuck([_key(step) for step in steps[-2 * limits.repeats :]], limits.repeats):
        return End(Finish.STUCK_IN_A_LOOP, f"the same turns {limits.repeats} times in a row")
    if len(steps) >= limits.turns:
        return End(Finish.MAX_ITERATIONS_REACHED, f"{limits.turns} turns")
    return None


def _key(step: Step) -> Hashable:
    """A key that is equal for two equal turns: the call and its result, but not its position in the reply."""
    if isinstance(step.call, CallError):
        return step.call.kind, step.reply.text
    return step.call.name, step.call.arguments, step.result
