"""A tool call is not read back as the model wrote it.

## What it does
For `skyrl-train`: encodes and decodes calls with awkward values (spaces before punctuation, indentation, other scripts) and
parses them again. For verl with tools: checks that the chat template lists the tools, and writes a call in the form
that `actor_rollout_ref.rollout.multi_turn.format` reads.

## Why it breaks training
A tokenizer that changes spaces runs another command than the model wrote (`git add.` for `git add .`). A parser for another
form finds no call, so each rollout ends after its first reply.

## How to fix
Use a tokenizer that decodes to the same text. For verl, set `actor_rollout_ref.rollout.multi_turn.format` to the form of the
model's template.

## Example
    the call `ls .` is decoded as `ls.`
"""

from collections.abc import Iterator

from checks.mod.shared import Loop, has_tool_turns, loop_of
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.facts.chat_template import ChatTemplate
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Call

KEY = "model.path"
FORMAT = "actor_rollout_ref.rollout.multi_turn.format"
PROBE = "skyrl_probe"
OPENINGS = {
    "hermes": '<tool_call>Ċ{"name"',
    "qwen3_coder": "<tool_call>Ċ<function=",
    "glm": f"<tool_call>{PROBE}",
    "seed": "<seed:tool_call>",
    "minimax": "<minimax:tool_call>",
    "kimi": "<|tool_calls_section_begin|>",
}
"""How a call begins in the forms of verl's parsers, without white space."""


@check("MOD009", fix="operator: the tokenizer and the template belong to the model")
def tool_call_not_read_back(plan: Plan, template: ChatTemplate) -> Iterator[Finding]:
    loop = loop_of(plan)
    if loop is Loop.OURS:
        for value, text in zip(template.values, template.read_back, strict=True):
            found = parse_call(text)
            read = dict(found.arguments).get("command") if isinstance(found, Call) else None
            if read != value:
                yield config_finding(
                    f"a call with {value!r} is decoded as {read!r}; expected the same text",
                    plan.place(KEY),
                    summary="use a tokenizer that decodes to the same text",
                    evidence=(f"{template.tokenizer}/tokenizer.json",),
                )
        return
    if loop is not Loop.VERL or not has_tool_turns(plan):
        raise NotApplicable("the configuration lets the model call no tools")
    yield from _in_form(plan, template)


def _in_form(plan: Plan, template: ChatTemplate) -> Iterator[Finding]:
    """A warning where the template does not list tools, or writes a call in another form than the parser reads."""
    prompt, called = template.renders.get("tool_prompt"), template.renders.get("tool_whole")
    if prompt is None or called is None or prompt.error or called.error:
        raise NotApplicable("the chat template refuses tools")
    evidence = (f"{template.tokenizer}: {template.source}",)
    if PROBE not in template.text(prompt.ids):
        message = "the chat template does not list the tools, so the model does not know them"
        yield config_finding(message, plan.place(KEY), severity=Severity.WARNING, evidence=evidence)
    form = plan.own.get(FORMAT)
    opening = OPENINGS.get(str(form.value)) if form is not None else None
    if form is None or opening is None or called.ids[: len(prompt.ids)] != prompt.ids:
        return  # what the model would write is not certain
    written = _bare(template.text(called.ids[len(prompt.ids) :]))
    if _bare(opening) not in written:
        message = f"{form.assignment} reads calls that begin with {_bare(opening)!r}, but the chat template writes {written[:60]!r}"
        yield config_finding(message, form.location, severity=Severity.WARNING, evidence=evidence)


def _bare(text: str) -> str:
    """The text without white space, which vocabularies write in other ways."""
    return "".join(letter for letter in text if letter not in " \n\tĠĊĉ▁")
