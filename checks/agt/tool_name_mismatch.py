"""The configuration offers a tool that the agent's parser does not know, or lacks `finish`.

## What it does
Compares the names under `agent.tools` with the names that the parser accepts, including old ones, and looks for
`finish`.

## Why it breaks training
The prompt offers the tool, the model calls it, and every call is rejected. Older agents report this as "no function
call", so it looks as if the model could not call functions. Without `finish` no rollout ends by itself: each runs
into a limit and is masked.

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
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.agent.tools import FINISH, TOOLS, offers, unknown_names

CAUSE = "the model calls tools by other names than the configuration offers; map the aliases"

SIGNATURES = (
    Signature(
        pattern=r"[Tt]ool(?:Definition)? '?[\w.-]{1,80}'? (?:is not registered|(?:was |is )?not found\b.{0,20}[Aa]vailable|does not exist)|\bFunctionCallNotExistsError\b|[Uu]nknown tool:? (?!(?:call |name )?parser\b|parsers?\b)'?[\w.-]{1,60}",
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
    expected = str([tool.name for tool in TOOLS]).replace("'", '"')
    for name in unknown_names(names):
        message = f"{plan.name(KEY)} offers {name!r}, which the parser of calls does not know; expected some of {known}"
        yield config_finding(message, plan.place(KEY), plan.settings({KEY: expected}))
    if not offers(names, FINISH):
        message = f"{plan.name(KEY)} has no {FINISH.name}, so no rollout can end by itself; expected it among {known}"
        yield config_finding(message, plan.place(KEY), plan.settings({KEY: expected}))
