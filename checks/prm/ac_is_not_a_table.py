"""`trainer.model.ac` must be a table.

## What it does
Checks that `trainer.model.ac` of a prime-rl configuration is a table or missing.

## Why it breaks training
prime-rl rejects the file, on the GPU node and after the queue.

## How to fix
Write `[trainer.model.ac]` with `freq = 1`; the current schema accepts `mode = "selective"` in that table too.

## Example
    pydantic_core._pydantic_core.ValidationError: 1 validation error for RLConfig
"""

from collections.abc import Iterator

from checks.prm.shared import prime_only, refused
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.dialect import TODAY

CAUSE = "activation checkpointing must be a table: [trainer.model.ac]"

SIGNATURES = (
    Signature(
        pattern=r"(?:^|\] |[-|\"] ?)\W*(?:trainer\.)?model\.ac\b\W*$",
        sample="trainer.model.ac",
        explain=CAUSE,
        versions="prime-rl",
        near=r"validation errors? for \w*(?:Config|Settings|RL)\w*",
        within=120,
    ),
    Signature(
        pattern=refused(r"(?:trainer\.)?model\.ac"),
        sample="trainer.model.ac: Input should be a valid dictionary or instance of ActivationCheckpointConfig",
        explain=CAUSE,
        versions="prime-rl",
    ),
)

KEY = "trainer.model.ac"


@check("PRM001", fix="operator: prime-rl reads a file that is the user's own")
def ac_is_not_a_table(plan: Plan) -> Iterator[Finding]:
    found = prime_only(plan).own.get(KEY)
    if found is None or isinstance(found.value, dict):
        return
    wants_mode = isinstance(found.value, str) and plan.is_of(TODAY)
    setting = f'{{ mode = "{found.value}", freq = 1 }}' if wants_mode else "{ freq = 1 }"
    yield config_finding(f"{found.assignment}; expected a table such as {setting}", found.location, {KEY: setting})
