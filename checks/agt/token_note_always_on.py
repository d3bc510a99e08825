"""The note "running out of tokens" appears from the first turn on.

## What it does
Subtracts the threshold of the note (3000 in SkyRL-agent, `agent.budget_note_tokens` in a RunConfig) from the tokens
of a whole rollout. In SkyRL-agent those are `generator.max_prompt_length`, despite its name.

## Why it breaks training
With 2048 tokens the result is negative: the note is in every turn, and the model learns to give up at once.

## How to fix
Give a rollout more tokens than the threshold if memory allows it, or lower the threshold.

## Example
    You are running out of tokens. Please finish the task now.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.context import note_is_always_on

TOTALS = ("agent.max_response_tokens", "data.max_response_tokens")
NOTE = "agent.budget_note_tokens"


@check("AGT020", fix="skyrl_train/config/context.py")
def token_note_always_on(plan: Plan) -> Iterator[Finding]:
    note = required(plan).integer(NOTE)
    key = next((key for key in TOTALS if plan.find(key)), None)
    total = plan.integer(key) if key else None
    if note is None or total is None or key is None:
        raise NotApplicable("the configuration has no note about the remaining tokens")
    if note_is_always_on(response_tokens=total, note_tokens=note):
        is_ours = plan.values[NOTE].own == NOTE
        settings = {NOTE: str(total // 8)} if is_ours else plan.settings({key: str(note + total)})
        yield config_finding(
            f'the note "running out of tokens" appears when fewer than {note} of {total} tokens are left, which is always; expected {plan.name(key)} above {note}',
            plan.place(key),
            settings,
            severity=Severity.WARNING,
        )
