"""The configuration offers a tool that the agent's parser does not know, or no way to finish.

## What it does
Compares the names under `agent.tools` with the names that the parser takes, old ones included, and looks for `finish`.

## Why it breaks training
The prompt offers the tool, the model calls it, and each call is refused. Reported as "no function call", as older
agents do, it looks as if the model could not call functions at all. Without `finish` no rollout ends by itself: each
runs into a limit and is masked.

## How to fix
Use the names of the OpenHands SDK: `terminal`, `file_editor`, `finish`, `think`.

## Example
    Function 'execute_bash' not found in available tools: ['terminal', 'file_editor', 'finish', 'think']
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import fault, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.agent.tools import FINISH, TOOLS, offers, unknown_names

CAUSE = "the tools have other names than the calls; map the aliases"

SIGNATURES = (
    Signature(
        pattern=r"[Tt]ool(?:Definition)? '?[\w.-]{1,80}'? (?:is not registered|(?:was |is )?not found\b.{0,20}[Aa]vailable|does not exist)|\bFunctionCallNotExistsError\b|[Uu]nknown tool:? '?[\w.-]{1,60}",
        sample="Tool 'execute_bash' not found. Available: ['terminal', 'file_editor', 'finish', 'think']",
        explain=CAUSE,
        versions="openhands-sdk, OpenHands V0",
    ),
    Signature(
        pattern=r"Function '[^']{1,80}' not found in available tools",
        sample="Function 'execute_bash' not found in available tools: ['terminal', 'file_editor', 'finish', 'think']",
        explain=CAUSE,
        versions="openhands-sdk",
    ),
)

KEY = "agent.tools"


@check("AGT002", fix="skyrl_train/contracts/agent/tools.py")
def tool_name_mismatch(plan: Plan) -> Iterator[Finding]:
    names = required(plan).texts(KEY)
    if names is None:
        raise NotApplicable("the configuration names no tools")
    known = ", ".join(tool.name for tool in TOOLS)
    wanted = str([tool.name for tool in TOOLS]).replace("'", '"')
    for name in unknown_names(names):
        message = f"{plan.name(KEY)} offers {name!r}, which the parser of calls does not know; wanted some of {known}"
        yield fault(message, plan.place(KEY), {plan.name(KEY): wanted})
    if not offers(names, FINISH):
        message = f"{plan.name(KEY)} has no {FINISH.name}: no rollout could end by itself; wanted it among {known}"
        yield fault(message, plan.place(KEY), {plan.name(KEY): wanted})
