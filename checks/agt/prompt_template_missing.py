"""The agent's prompt template is missing in the training interpreter.

## What it does
Looks for the templates of the installed openhands-sdk, and for `prompts/system_prompt.j2` next to the class that
`agent_cls` names, unless that class sets its own prompt directory.

## Why it breaks training
The SDK looks for a template next to the module that defines the agent's class. A custom agent has none there, and
packaging for workers drops files that are not Python. The first prompt of the first rollout then fails.

## How to fix
Override `prompt_dir` in the class, give the prompt inline, or install the package with its templates. The agent of
`skyrl-train` has its prompt in code.

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
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.agent.tool_prompt import TEMPLATE

CAUSE = "the prompt template is missing in the Ray worker"

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
            summary="reinstall the package with its templates",
            commands=(f"{packages.python} -m pip install --force-reinstall --no-deps openhands-sdk=={packages.sdk}",),
        )
        message = (
            f"openhands-sdk {packages.sdk} at {packages.templates_at} has no prompt template; expected .j2 files there"
        )
        yield Finding(message=message, remedy=remedy)
    own = packages.agent
    if own is not None and not own.overrides and TEMPLATE not in own.templates:
        yield config_finding(
            f"{own.directory}/prompts/{TEMPLATE} is missing and {plan.own[CLASS].value} names no other; expected a template there",
            plan.own[CLASS].location,
            summary="override prompt_dir in the class, or add the template",
        )
