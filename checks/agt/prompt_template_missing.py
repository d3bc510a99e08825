"""The prompt template of the agent is not where the training interpreter looks for it.

## What it does
Looks in the installed openhands-sdk for its templates, and beside the class that `agent_cls` names for
`prompts/system_prompt.j2`, unless the class says itself where its prompt is.

## Why it breaks training
The SDK looks for a template beside the module that defines the agent's class. An agent of one's own has none there, and
packaging for workers drops files that are no Python: the first prompt of the first rollout fails.

## How to fix
Override `prompt_dir` in the class, give the prompt inline, or install the package with its templates. The agent of this
package has its prompt in code.

## Example
    FileNotFoundError: Prompt file /tmp/ray/session/runtime_resources/working_dir/prompts/system_prompt.j2 not found
"""

from collections.abc import Iterator

from checks.vocabulary import LACK
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.agent_packages import AgentPackages
from skyrl_doctor.plan.findings import fault
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.agent.tool_prompt import TEMPLATE

CAUSE = "the prompt's template did not come along to the worker"

SIGNATURES = (
    Signature(
        pattern=r"TemplateNotFound: \S{0,200}\.j2|(?:No such file or directory|[Tt]emplate|[Pp]rompt(?: file)?)\b.{0,200}prompts?/\S{1,120}\.(?:j2|jinja2?)\b.{0,40}(?:$|not found|does not exist|missing|')",
        sample="jinja2.exceptions.TemplateNotFound: system_prompt.j2",
        explain=CAUSE,
        versions="jinja2",
    ),
    Signature(
        pattern=r"Prompt file \S{1,300} not found|(?:FileNotFoundError|TemplateNotFound).{0,300}system_prompt\w*\.j2",
        sample="FileNotFoundError: Prompt file /tmp/ray/session/runtime_resources/working_dir/prompts/system_prompt.j2 not found",
        explain=CAUSE,
        versions="openhands-sdk",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b(?:prompt|template)\b.{{0,80}}\.j(?:2|inja2?)\b.{{0,60}}{LACK}",
    sample="ERROR prompt template system_prompt.j2 is missing in the worker",
    explain=CAUSE,
    versions="any",
)

CLASS = "agent_cls"


@check("AGT013", fix="skyrl_train/contracts/agent/tool_prompt.py")
def prompt_template_missing(plan: Plan, packages: AgentPackages) -> Iterator[Finding]:
    if not packages.sdk:
        raise NotApplicable(f"openhands-sdk is not installed for {packages.python}")
    if not packages.templates:
        remedy = Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="install the package again: its templates were left behind",
            commands=(f"{packages.python} -m pip install --force-reinstall --no-deps openhands-sdk=={packages.sdk}",),
        )
        message = (
            f"openhands-sdk {packages.sdk} at {packages.templates_at} has no prompt template; wanted its .j2 files"
        )
        yield Finding(message=message, remedy=remedy)
    own = packages.agent
    if own is not None and not own.overrides and TEMPLATE not in own.templates:
        yield fault(
            f"{plan.own[CLASS].value} has no {own.directory}/prompts/{TEMPLATE} and names no other; wanted a template there",
            plan.own[CLASS].location,
            summary="override prompt_dir in the class, or add the template",
        )
