"""How the loops of skyrl-train, verl and SkyRL build the tokens of a rollout with several turns."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.chat_template import ChatTemplate, Render
from skyrl_doctor.plan.findings import required
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.agent.follow_up import added

RESULT, REASON = "SKYRLRESULT", "SKYRLREASON"
"""Words that children/chat_template.py puts into a tool's result and into a reply's reasoning."""
OWN_BUILDERS = ("gpt_oss", "gemma4", "deepseek_v2", "deepseek_v3", "deepseek_v4")
"""Types of models for which verl renders a new message in another way. Those with images have other builders too."""
QWEN = ("qwen2", "qwen3", "qwen3_moe", "qwen3_5", "qwen3_5_moe")
MINIMAX = ("minimax", "minimax_text_01", "minimax_m2")
GLM = ("glm4_moe", "glm_moe_dsa")
"""Types of models whose ends of turns verl knows (0.9.1)."""
NEWLINE_AFTER = ((QWEN, "<|im_end|>"), (MINIMAX, "[e~["))
"""It adds a newline after these tokens."""
FIRST_WITH_TABLE = (0, 9, 1)
"""Earlier releases of verl render the new message alone and cut off a system prompt."""
TOOL_SWITCHES = ("actor_rollout_ref.rollout.multi_turn.enable", "actor_rollout_ref.rollout.multi_turn.tool_config_path")
DEFAULT_LOOP = "actor_rollout_ref.rollout.agent.default_agent_loop"


class Loop(StrEnum):
    """A program that runs rollouts."""

    OURS = "skyrl-train"
    VERL = "verl"
    SKYRL = "SkyRL"


@record
class Turn:
    """A part of a rollout as the template renders the whole conversation, and as the loop builds it."""

    place: str
    expected: Sequence[int]
    built: Sequence[int]


def loop_of(plan: Plan) -> Loop:
    """The loop of a configuration. Raises NotApplicable."""
    if required(plan).is_of("run-config"):
        return Loop.OURS
    if plan.is_of("verl") and plan.own.get(DEFAULT_LOOP) is not None:
        return Loop.VERL
    if plan.is_of("skyrl") and any(key.startswith("generator.") for key in plan.own):
        return Loop.SKYRL
    raise NotApplicable("only the loops of skyrl-train, verl and SkyRL are examined")


def has_tool_turns(plan: Plan) -> bool:
    """Whether a configuration of verl lets the model call tools."""
    chosen = [plan.own.get(key) for key in TOOL_SWITCHES]
    default = plan.own.get(DEFAULT_LOOP)
    by_default = default is not None and default.value == "tool_agent"
    return by_default or any(value is not None and not value.unknown and bool(value.value) for value in chosen)


def has_more_turns(plan: Plan, loop: Loop) -> bool:
    """Whether a rollout may have more than one reply."""
    if loop is Loop.VERL:
        return has_tool_turns(plan)
    if loop is Loop.SKYRL:
        turns, talk = plan.own.get("generator.max_turns"), plan.own.get("generator.use_conversation_multi_turn")
        several = turns is not None and isinstance(turns.value, int) and turns.value > 1
        return several and (talk is None or talk.value is not False)
    return True


def renders_again(plan: Plan) -> bool:
    """Whether SkyRL renders the whole history in each turn, as it does with a template of its own."""
    return any(key.startswith("generator.chat_template.") and value.value for key, value in plan.own.items())


def release(version: str) -> tuple[int, ...]:
    """The first three numbers of a version; none if it is unknown."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def slices(template: ChatTemplate) -> bool:
    """Whether the installed verl cuts off a system prompt. Without an installed verl it is taken for the newest."""
    return () < release(template.verl) < FIRST_WITH_TABLE


def used(loop: Loop, template: ChatTemplate) -> tuple[Render, ...]:
    """The renders without which the tokens of a loop are unknown."""
    names = {
        Loop.OURS: ("prompt", "follow", "whole"),
        Loop.SKYRL: ("prompt", "skyrl_base", "skyrl_result", "whole"),
        Loop.VERL: ("tool_prompt", "tool_whole")
        + (("tool_alone", "user_once", "user_twice") if slices(template) else ("verl_base", "verl_result")),
    }
    return tuple(template.renders[name] for name in names[loop])


def turns(loop: Loop, template: ChatTemplate, model_type: str) -> Iterator[Turn]:
    """The parts of a rollout that can be compared; none if the template refuses one of them."""
    if any(render.error for render in used(loop, template)):
        return
    prompt = template.renders["tool_prompt" if loop is Loop.VERL else "prompt"].ids
    whole = template.renders["tool_whole" if loop is Loop.VERL else "whole"].ids
    kept = prompt[: _without_thinking(template, prompt)]
    yield Turn("the first prompt", whole[: len(kept)], kept)
    end = _after_reply(loop, template, whole, prompt)
    tail = _tail(loop, template, model_type)
    if end is not None and tail is not None:
        yield Turn("the tokens after a reply", whole[end:], tail)


def drops_reasoning(loop: Loop, template: ChatTemplate) -> bool:
    """Whether the template leaves out the reasoning of an earlier reply."""
    render = template.renders["tool_reasoned" if loop is Loop.VERL else "reasoned"]
    return not render.error and REASON not in template.text(render.ids)


def _without_thinking(template: ChatTemplate, prompt: Sequence[int]) -> int:
    """How many tokens of a prompt stand before a thinking block that the template opens at its end."""
    start = next((at for at in range(len(prompt)) if "<think>" in template.text(prompt[at:])[:7]), None)
    return len(prompt) if start is None or len(prompt) - start > 8 else start


def _after_reply(loop: Loop, template: ChatTemplate, whole: Sequence[int], prompt: Sequence[int]) -> int | None:
    """Where the tokens after the reply begin in the whole conversation; None if that is not certain."""
    if loop is not Loop.VERL:
        return _end_of(template, whole, "</function>")
    result = _end_of(template, whole, RESULT, whole_tokens=False)
    stops = [at for at in range(len(prompt), result or 0) if whole[at] in template.ends]
    return stops[-1] + 1 if stops else None


def _end_of(template: ChatTemplate, ids: Sequence[int], word: str, *, whole_tokens: bool = True) -> int | None:
    """The number of tokens up to the end of a word; None if it is not there or, with `whole_tokens`, ends within a token."""
    end = template.text(ids).find(word)
    if end < 0:
        return None
    end += len(word)
    lengths = [len(template.text(ids[:count])) for count in range(len(ids) + 1)]
    count = next(count for count, length in enumerate(lengths) if length >= end)
    return count if lengths[count] == end or not whole_tokens else None


def _tail(loop: Loop, template: ChatTemplate, model_type: str) -> Sequence[int] | None:
    """The tokens that a loop adds after a reply; None if they are not known."""
    renders = template.renders
    if loop is Loop.OURS:
        after = renders["follow"].after
        return None if after is None else added((), after)
    if loop is Loop.SKYRL:
        end, eos, base = _end(template), template.id_of("eos"), list(renders["skyrl_base"].ids)
        cut = len(base) - base[::-1].index(eos) if eos in base else len(base)
        return None if end is None else (end, *renders["skyrl_result"].ids[cut:])
    if slices(template):
        system_prompt = 2 * len(renders["user_once"].ids) - len(renders["user_twice"].ids)
        return renders["tool_alone"].ids[max(0, system_prompt) :]
    return verl_tail(template, model_type)


def _end(template: ChatTemplate) -> int | None:
    """The token with which the model ends a reply; None if generation does not stop at it (MOD008)."""
    after = template.renders["follow"].after
    return after[0] if after and after[0] in template.ends else None


def verl_tail(template: ChatTemplate, model_type: str) -> Sequence[int] | None:
    """What verl adds for a tool's result: what follows the render without it, and a newline for some types of models."""
    base, whole = template.renders["verl_base"].ids, template.renders["verl_result"].ids
    if model_type in OWN_BUILDERS or whole[: len(base)] != base:
        return None
    if model_type in GLM:
        return whole[len(base) + 1 :]  # the stop token of the reply is the first one
    name = next((token for kinds, token in NEWLINE_AFTER if model_type in kinds), "")
    end = (template.renders["follow"].after or (None,))[0]
    knows_end = end is not None and template.needed.get(name) == end
    return (*(template.newline if knows_end else ()), *whole[len(base) :])
