"""The installed OpenHands SDK requires event fields that the agent does not write.

## What it does
Asks the training interpreter which fields of `ActionEvent` and `MessageToolCall` have no default in its
openhands-sdk, and compares them with the fields that the agent writes.

## Why it breaks training
The SDK rejects an event without a required field with a validation error. A program that reads the exported rollouts
then gets none of them.

## How to fix
Install the openhands-sdk version that the requirements name, or update `skyrl_train/contracts/agent/events.py` for the newer
one.

## Example
    pydantic_core._pydantic_core.ValidationError: 5 validation errors for ActionEvent
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.agent_packages import AgentPackages

CAUSE = "this SDK's ActionEvent requires fields that were not given"

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
            message = f"openhands-sdk {packages.sdk} has no class {name} at the expected place; expected one with the fields {', '.join(ours)}"
            yield _finding(message, packages)
            continue
        missing = [field for field in packages.required[name] if field not in ours]
        if missing:
            message = (
                f"{name} of openhands-sdk {packages.sdk} requires {', '.join(missing)}, but the agent writes only "
            )
            yield _finding(message + ", ".join(ours), packages)


def _finding(message: str, packages: AgentPackages) -> Finding:
    remedy = Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="install the SDK version that the contract tests use",
        commands=(f"{packages.python} -m pip install 'openhands-sdk==1.58.0'",),
    )
    return Finding(message=message, remedy=remedy, severity=Severity.WARNING)
