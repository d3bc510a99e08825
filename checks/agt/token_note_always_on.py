"""The agent is told from the first turn on that its tokens run out.

## What it does
Subtracts the threshold of the note (3000 in SkyRL-agent, agent.budget_note_tokens here) from the tokens of a whole
trajectory. In SkyRL-agent those are `generator.max_prompt_length`, whatever its name says.

## Why it breaks training
With 2048 tokens the threshold is negative: the note stands in every turn, and the model learns to give up at once.

## How to fix
Give a trajectory more tokens than the threshold, where memory allows it, or lower the threshold.

## Example
    You are running out of tokens. Please finish the task now.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.plan.findings import fault, required
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
        raise NotApplicable("the agent of this configuration gives no note about its tokens")
    if note_is_always_on(response_tokens=total, note_tokens=note):
        is_ours = plan.values[NOTE].own == NOTE
        settings = {NOTE: str(total // 8)} if is_ours else {plan.name(key): str(note + total)}
        yield fault(
            f"the note that tokens run out comes when fewer than {note} of {total} are left: always; wanted {plan.name(key)} above {note}",
            plan.place(key),
            settings,
            severity=Severity.WARNING,
        )
