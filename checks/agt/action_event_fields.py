"""The installed OpenHands SDK requires fields of its events that the exported ones do not have.

## What it does
Reads in the training interpreter's openhands-sdk which fields of `ActionEvent` and `MessageToolCall` have no default,
and compares them with the fields that the agent's events carry.

## Why it breaks training
The SDK's events are frozen and forbid what they do not know: each exported event is refused with a validation error,
and whatever reads the rollouts afterwards gets none.

## How to fix
Install the openhands-sdk that the requirements name, or bring `skyrl_train/contracts/agent/events.py` up to the newer one.

## Example
    pydantic_core._pydantic_core.ValidationError: 5 validation errors for ActionEvent
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.agent_packages import AgentPackages

CAUSE = "ActionEvent of this SDK wants fields that were not given"

SIGNATURES = (
    Signature(
        pattern=r"ActionEvent(?:\.__init__)?\(\) (?:missing|got an unexpected)",
        sample="TypeError: ActionEvent.__init__() missing 2 required keyword-only arguments: 'tool_call_id' and 'llm_response_id'",
        explain=CAUSE,
        versions="openhands-sdk",
    ),
    Signature(
        pattern=r"validation errors? for ActionEvent",
        sample="pydantic_core._pydantic_core.ValidationError: 5 validation errors for ActionEvent",
        explain=CAUSE,
        versions="openhands-sdk",
    ),
)


@check("AGT005", fix="skyrl_train/contracts/agent/events.py")
def action_event_fields(packages: AgentPackages) -> Iterator[Finding]:
    if not packages.sdk:
        raise NotApplicable(f"openhands-sdk is not installed for {packages.python}")
    from skyrl_train.contracts.agent.events import (
        EVENT_FIELDS,  # with all records of the agent: only where there is an SDK
    )

    for name, ours in EVENT_FIELDS.items():
        if name not in packages.required:
            message = (
                f"openhands-sdk {packages.sdk} has no {name} where it was looked for; wanted one of {', '.join(ours)}"
            )
            yield _finding(message, packages)
            continue
        missing = [field for field in packages.required[name] if field not in ours]
        if missing:
            message = f"{name} of openhands-sdk {packages.sdk} requires {', '.join(missing)}; the agent's events have "
            yield _finding(message + ", ".join(ours), packages)


def _finding(message: str, packages: AgentPackages) -> Finding:
    remedy = Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="install the SDK that the contract tests were run with",
        commands=(f"{packages.python} -m pip install 'openhands-sdk==1.58.0'",),
    )
    return Finding(message=message, remedy=remedy, severity=Severity.WARNING)
