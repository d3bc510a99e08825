"""vLLM strips the stop text that the parser of function calls needs.

## What it does
If sampling stops at `</function>`, checks that the stop text stays in the answer (`include_stop_str_in_output`).

## Why it breaks training
vLLM removes the stop text by default. SkyRL-agent's parser then never finds the end of a call. Every turn counts as
plain text, the agent gets "No function call detected", and the reward is that of an agent without tools.

## How to fix
Set `include_stop_str_in_output: true` next to `stop` (`rollout.keep_stop = true` in a RunConfig).

## Example
    No function call detected. Please use a tool to continue.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.stops import KEEP_KEY, STOP_KEY, stripped


@check("AGT014", fix="skyrl_train/config/stops.py")
def stop_string_stripped(plan: Plan) -> Iterator[Finding]:
    stops = required(plan).texts(STOP_KEY)
    if stops is None:
        raise NotApplicable("the configuration sets no stop text")
    for stop in stripped(stops, keep=plan.flag(KEEP_KEY)):
        yield config_finding(
            f"{plan.name(STOP_KEY)} contains {stop!r} and {plan.name(KEEP_KEY)} is off; expected true, because vLLM strips the text that ends a call",
            plan.place(STOP_KEY),
            plan.settings({KEEP_KEY: "true"}),
            severity=Severity.WARNING,
        )
