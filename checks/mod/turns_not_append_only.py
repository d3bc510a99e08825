"""The chat template renders earlier turns differently from the tokens of the rollout.

## What it does
Renders a short conversation with the model's chat template and compares it, token by token, with what the configured
loop builds turn by turn: that of `skyrl-train`, the tool agent loop of verl, or the generator of SkyRL. It uses the
tokenizer on this machine, in the training interpreter. A difference in the text is a warning, one in white space or in
earlier reasoning is for information.

## Why it breaks training
All three loops keep the tokens of a turn and never render it again. If the template would render an earlier turn in
another way, the model is trained on sequences that no server makes of the same messages: it moves the system message,
drops an end of turn or removes `<think>` blocks. Evaluations through a chat API then differ from training.

## How to fix
Use a template that renders each message the same way whatever follows it. For reasoning that is removed: nothing, if the
model is evaluated by the same loop (`skyrl-train evaluate`); else a template that keeps it.

## Example
    Inconsistent training and inference tokenization detected (strict)
"""

from collections.abc import Iterator

from checks.mod.shared import Turn, drops_reasoning, has_more_turns, loop_of, renders_again, turns
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.facts.chat_template import ChatTemplate, Difference
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import model_type

KEY = "model.path"
SPACES = str.maketrans("", "", " \n\tĠĊĉ▁")
"""White space as vocabularies write it."""


@check("MOD006", fix="skyrl_train/contracts/agent/follow_up.py")
def turns_not_append_only(plan: Plan, model: ModelFiles, template: ChatTemplate) -> Iterator[Finding]:
    loop = loop_of(plan)
    if not template.source:
        raise NotApplicable("the model has no chat template")
    if not has_more_turns(plan, loop):
        raise NotApplicable("a rollout has one reply")
    if renders_again(plan):
        raise NotApplicable("SkyRL renders the whole history in each turn, with a template of its own")
    for turn in turns(loop, template, model_type(model.config or {}) or ""):
        difference = template.difference(turn.expected, turn.built)
        if difference is not None:
            yield _finding(
                plan, f"{turn.place} of {loop}: {_sentence(difference)}", template, _severity(template, turn)
            )
            break  # the rest differs because of it
    if drops_reasoning(loop, template):
        message = "the chat template removes the reasoning of earlier replies, and the rollout keeps it; expected the same in both"
        yield _finding(plan, message, template, Severity.INFO)


def _sentence(difference: Difference) -> str:
    expected, built = difference.expected or "the end", difference.built or "the end"
    return f"token {difference.index} is {built}; expected {expected}, as the template renders the whole conversation"


def _severity(template: ChatTemplate, turn: Turn) -> Severity:
    expected, built = (template.text(ids).translate(SPACES) for ids in (turn.expected, turn.built))
    return Severity.INFO if expected == built else Severity.WARNING


def _finding(plan: Plan, message: str, template: ChatTemplate, severity: Severity) -> Finding:
    return config_finding(
        message,
        plan.place(KEY),
        summary="use a chat template that renders earlier turns unchanged",
        severity=severity,
        evidence=(f"{template.tokenizer}: {template.source}",),
    )
