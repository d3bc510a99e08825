"""The agent assigns to a field of a frozen model.

## What it does
`skyrl-doctor diagnose` and `watch` find the errors that pydantic, dataclasses and msgspec raise. No check can see it
before the job.

## Why it breaks training
The agent class of the OpenHands SDK is a frozen pydantic model. `self.tokenizer = tokenizer` in a subclass raises, so
no agent starts and every rollout fails.

## How to fix
Keep such values in a private attribute (`_tokenizer: Any = PrivateAttr()`) or outside the model. The agent loop of
`skyrl-train` does not use these classes.

## Example
    ValueError: "OHCodeActAgent" object has no field "tokenizer"
"""

from skyrl_doctor.core.signature import Signature

SIGNATURES = (
    Signature(
        pattern=r"\bFrozenInstanceError\b|is immutable and does not support item assignment|' object has no setter\b|\bimmutable type: '|\"\w{1,60}\" object has no field \"",
        sample='ValueError: "OHCodeActAgent" object has no field "tokenizer"',
        explain="a frozen model was assigned to; use a private attribute",
        versions="pydantic, dataclasses",
    ),
    Signature(
        pattern=r"\bInstance is frozen\b|type=frozen_instance",
        sample="  Instance is frozen [type=frozen_instance, input_value='x', input_type=str]",
        explain="a frozen model of pydantic was assigned to; use a private attribute",
        versions="pydantic",
    ),
)
