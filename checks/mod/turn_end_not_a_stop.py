"""Generation does not stop at the token that ends a turn in the chat template.

## What it does
Compares the first token that the chat template writes after a reply with the tokens at which vLLM stops: the tokenizer's
`eos_token`, and `eos_token_id` of generation_config.json (of config.json if that file does not exist).

## Why it breaks training
The model ends its turn and generation continues: it writes the next user message itself, until the length limit. Base
models with the template of their chat model have this fault, as have copies of a model without generation_config.json.

## How to fix
Add the token to `eos_token_id` in generation_config.json of the model's directory, or use the tokenizer of the chat model.

## Example
    <|im_end|> (151645) ends a turn, generation stops at 151643 '<|endoftext|>'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.facts.chat_template import ChatTemplate
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan

KEY = "model.path"


@check("MOD008", fix="operator: the stop tokens belong to the model's files")
def turn_end_not_a_stop(plan: Plan, template: ChatTemplate) -> Iterator[Finding]:
    follow = template.renders.get("follow")
    if not template.source or follow is None or not follow.after:
        raise NotApplicable("the chat template does not show how a reply ends")
    end = follow.after[0]
    if end in template.ends:
        return
    stops = ", ".join(f"{token} {template.pieces.get(token, '')!r}" for token in sorted(template.ends)) or "no token"
    yield config_finding(
        f"the chat template ends a reply with {end} {template.pieces.get(end, '')!r}, but generation stops only at {stops}; expected it among them",
        required(plan).place(KEY),
        summary="add the token to eos_token_id in generation_config.json",
        severity=Severity.WARNING,
        evidence=(f"{template.tokenizer}: {template.source}",),
    )
