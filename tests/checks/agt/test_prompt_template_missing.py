"""AGT013."""

from dataclasses import replace

import pytest

from checks.agt.prompt_template_missing import prompt_template_missing
from plans import example
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Status
from skyrl_doctor.facts.agent_packages import AgentClass, AgentPackages
from skyrl_doctor.plan.model import Plan, Value
from support import judge

CLASS = Plan(("a.yaml",), "skyrl-agent", {}, {"agent_cls": Value("agent_cls", "mine.Agent")})
GOOD = AgentPackages(
    python="/py", sdk="1.0", required={}, templates=("a.j2",), templates_at="/sdk", own_records="ok", agent=None
)
TASK = "examples/skyrl-agent/verl_oh.yaml"


def told(packages: AgentPackages) -> list[str]:
    return [finding.message for finding in prompt_template_missing(CLASS, packages)]


def test_a_template_is_needed_where_nothing_else_is_said() -> None:
    assert told(GOOD) == []
    for own, count in (
        (AgentClass("/mine", (), False), 1),
        (AgentClass("/mine", ("system_prompt.j2",), False), 0),
        (AgentClass("/mine", (), True), 0),
    ):
        assert len(told(replace(GOOD, agent=own))) == count
    with pytest.raises(NotApplicable, match="openhands-sdk is not installed for /py"):
        told(replace(GOOD, sdk=""))


def test_reproduces_on_a_recording() -> None:
    outcome = judge("AGT013", "agent_stack_broken")
    assert [finding.message for finding in outcome.findings] == [
        (
            "openhands-sdk 1.58.0 at /opt/train/lib/python3.12/site-packages/openhands/sdk has no prompt template; expected .j2 files there"
        )
    ]
    outcome = judge("AGT013", "agent_stack_broken", plan=example(TASK))
    assert [(finding.message, finding.location and finding.location.line) for finding in outcome.findings] == [
        (
            (
                "/opt/train/lib/python3.12/site-packages/skyrl_agent/agents/prompts/system_prompt.j2 is missing and skyrl_agent.agents.oh_codeact.OHCodeActAgent names no other; expected a template there"
            ),
            1,
        )
    ]


def test_silent_on_the_clean_machine() -> None:
    assert judge("AGT013", "clean_gpu_node").status is Status.PASS
