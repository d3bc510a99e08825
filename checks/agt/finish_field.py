"""`FinishAction` gets a field other than `message`.

## What it does
`skyrl-doctor diagnose` and `watch` find the error of the OpenHands SDK in the logs. No check can see it before the
job.

## Why it breaks training
Older OpenHands versions called the field `thought`; the SDK calls it `message` and accepts no other. Every rollout
that ends with `finish` then fails at its last turn, so good rollouts are lost.

## How to fix
Pass the text as `message`. `skyrl-train` offers the model a `finish` tool whose only required argument is `message`.

## Example
    pydantic_core._pydantic_core.ValidationError: 2 validation errors for FinishAction
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "FinishAction takes `message`, and was given another field"

SIGNATURES = (
    Signature(
        pattern=r"FinishAction(?:\.__init__)?\(\) (?:missing|got an unexpected)",
        sample="TypeError: FinishAction.__init__() got an unexpected keyword argument 'thought'",
        explain=CAUSE,
        versions="openhands",
    ),
    Signature(
        pattern=r"validation errors? for FinishAction",
        sample="pydantic_core._pydantic_core.ValidationError: 2 validation errors for FinishAction",
        explain=CAUSE,
        versions="openhands-sdk",
    ),
)
