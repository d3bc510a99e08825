"""AGT005."""

from dataclasses import replace

import pytest

from checks.agt.action_event_fields import action_event_fields
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Severity, Status
from skyrl_doctor.facts.agent_packages import AgentPackages
from skyrl_train.contracts.agent.events import EVENT_FIELDS
from support import judge

GOOD = AgentPackages(
    python="/py",
    sdk="1.58.0",
    required={"ActionEvent": ("thought", "tool_name"), "MessageToolCall": ("id", "origin")},
    templates=("a.j2",),
    templates_at="/sdk",
    own_records="ok",
)


def told(packages: AgentPackages) -> list[str]:
    return [finding.message for finding in action_event_fields(packages)]


def test_each_required_field_must_be_one_of_ours() -> None:
    assert told(GOOD) == []
    changed = replace(GOOD, required={**GOOD.required, "ActionEvent": ("thought", "turn_id", "trace")})
    ours = ", ".join(EVENT_FIELDS["ActionEvent"])
    assert told(changed) == [
        f"ActionEvent of openhands-sdk 1.58.0 requires turn_id, trace; the agent's events have {ours}"
    ]
    with pytest.raises(NotApplicable, match="openhands-sdk is not installed for /py"):
        told(replace(GOOD, sdk=""))


def test_reproduces_on_a_recording() -> None:
    outcome = judge("AGT005", "agent_stack_broken")
    ours = {name: ", ".join(fields) for name, fields in EVENT_FIELDS.items()}
    assert outcome.status is Status.FAIL
    assert [(finding.message, finding.severity) for finding in outcome.findings] == [
        (
            f"ActionEvent of openhands-sdk 1.58.0 requires turn_id; the agent's events have {ours['ActionEvent']}",
            Severity.WARNING,
        ),
        (
            "openhands-sdk 1.58.0 has no MessageToolCall where it was looked for; wanted one of "
            + ours["MessageToolCall"],
            Severity.WARNING,
        ),
    ]


def test_silent_on_the_clean_machine() -> None:
    assert judge("AGT005", "clean_gpu_node").status is Status.PASS
