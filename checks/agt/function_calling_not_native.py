"""A stop text cuts off the model's function call.

## What it does
Writes one function call in the form that the prompt shows, cuts it at the first stop text of the configuration as the
engine does, and gives the rest to the agent's own parser.

## Why it breaks training
Small models have no native function calls: they write them as text. A stop text that occurs inside a call cuts off
its end, every time. Every turn then counts as one without a call, and no rollout earns a reward.

## How to fix
Use only `</function` as a stop text, or none: the end of the turn stops the model too.

## Example
    No function call detected. Please use a tool to continue.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.stops import KEEP_KEY, STOP_KEY
from skyrl_train.contracts.agent.calls import STOP_STRING
from skyrl_train.contracts.agent.golden_reply import breaking_stop

CAUSE = "the parser finds no function call in the model's replies; show the model the XML format in its prompt"

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
        yield config_finding(
            f"{plan.name(STOP_KEY)} contains {stop!r}, which occurs inside every function call; expected only {STOP_STRING!r}",
            plan.place(STOP_KEY),
            plan.settings({STOP_KEY: f'["{STOP_STRING}"]'}),
        )
