"""A stop text ends the model's reply before its function call is whole.

## What it does
Writes one function call in the form that the prompt teaches, ends it at the first stop text of the configuration, as
the engine would, and has the agent's own parser read what is left.

## Why it breaks training
Small models have no function calls of their own: they write them as text. A stop text that stands inside of a call
takes its rest away, every time. Every turn then counts as one without a call, and no rollout ever earns a reward.

## How to fix
Stop at `</function` only, or at nothing: the end of the turn stops the model too.

## Example
    No function call detected. Please use a tool to continue.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import fault, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.stops import KEEP_KEY, STOP_KEY
from skyrl_train.contracts.agent.calls import STOP_STRING
from skyrl_train.contracts.agent.golden_reply import breaking_stop

CAUSE = "the model writes no call that the parser knows; use the XML format, and show it in the prompt"

SIGNATURES = (
    Signature(
        pattern=r"Failed to (?:decode|parse) tool call|Error in extracting tool call from response|[Nn]o (?:valid )?tool calls? (?:was |were )?(?:detected|found|parsed)|[Nn]o (?:valid )?function calls? (?:was |were )?(?:found|parsed)",
        sample="ERROR:verl.experimental.agent_loop.tool_parser:Failed to decode tool call: Expecting value: line 1 column 1 (char 0)",
        explain=CAUSE,
        versions="verl, vllm",
        at_least=5,
        fatal=False,
    ),
    Signature(
        pattern=r"No function call detected",
        sample="WARNING: No function call detected. Please use a tool to continue.",
        explain=CAUSE,
        versions="SkyRL-agent",
        at_least=5,
        fatal=False,
    ),
)


@check("AGT001", fix="skyrl_train/contracts/agent/golden_reply.py")
def function_calling_not_native(plan: Plan) -> Iterator[Finding]:
    stops = required(plan).texts(STOP_KEY)
    if not stops:
        raise NotApplicable("the configuration sets no stop text")
    stop = breaking_stop(stops, keep=bool(plan.flag(KEEP_KEY)))
    if stop is not None:
        yield fault(
            f"{plan.name(STOP_KEY)} has {stop!r}, which stands inside of every function call; wanted {STOP_STRING!r} at most",
            plan.place(STOP_KEY),
            {plan.name(STOP_KEY): f'["{STOP_STRING}"]'},
        )
