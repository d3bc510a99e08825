"""`MessageToolCall` is built without its field `origin`.

## What it does
`skyrl-doctor diagnose` and `watch` find the error of the OpenHands SDK in the logs. No check can see it before the
job.

## Why it breaks training
The SDK requires `origin` since it supports two APIs for calls. An agent written for an older SDK leaves it out, and
every turn that calls a tool fails.

## How to fix
Pass `origin="completion"`, as `skyrl_train/contracts/agent/events.py` does, or install the SDK version that the agent was
written for.

## Example
    pydantic_core._pydantic_core.ValidationError: 1 validation error for MessageToolCall
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "MessageToolCall of this SDK wants `origin`"

SIGNATURES = (
    Signature(
        pattern=r"MessageToolCall(?:\.__init__)?\(\) (?:missing|got an unexpected)",
        sample="TypeError: MessageToolCall.__init__() missing 1 required keyword-only argument: 'origin'",
        explain=CAUSE,
        versions="openhands-sdk",
    ),
    Signature(
        pattern=r"validation errors? for MessageToolCall",
        sample="pydantic_core._pydantic_core.ValidationError: 1 validation error for MessageToolCall",
        explain=CAUSE,
        versions="openhands-sdk",
    ),
)
