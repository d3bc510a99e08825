"""vLLM strips the stop text that the parser of function calls looks for.

## What it does
Where the sampling stops at `</function>`, looks whether the stop text is kept in the answer
(`include_stop_str_in_output`).

## Why it breaks training
vLLM takes the stop text away unless told otherwise. SkyRL-agent's parser then never finds a closed call: every turn
counts as plain talk, the agent is told "No function call detected", and the reward is that of an agent without tools.

## How to fix
Set `include_stop_str_in_output: true` beside `stop` (rollout.keep_stop = true in a RunConfig).

## Example
    No function call detected. Please use a tool to continue.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.plan.findings import fault, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.stops import KEEP_KEY, STOP_KEY, stripped


@check("AGT014", fix="skyrl_train/config/stops.py")
def stop_string_stripped(plan: Plan) -> Iterator[Finding]:
    stops = required(plan).texts(STOP_KEY)
    if stops is None:
        raise NotApplicable("the configuration sets no stop text")
    for stop in stripped(stops, keep=plan.flag(KEEP_KEY)):
        yield fault(
            f"{plan.name(STOP_KEY)} has {stop!r} and {plan.name(KEEP_KEY)} is off; wanted true: vLLM strips the text that closes a call",
            plan.place(STOP_KEY),
            {plan.name(KEEP_KEY): "true"},
            severity=Severity.WARNING,
        )
