"""The adapter is configured under a key that prime-rl gave up.

## What it does
Looks for `trainer.model.experimental.lora`.

## Why it breaks training
The table moved to `trainer.model.lora`. prime-rl refuses the old place; a version between the two trained all weights
instead and ran out of memory.

## How to fix
Rename the table to `[trainer.model.lora]`.

## Example
    trainer.model.experimental.lora
      Extra inputs are not permitted [type=extra_forbidden, ...]
"""

from collections.abc import Iterator

from checks.prm.shared import below, prime_only, refused
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import fault
from skyrl_doctor.plan.model import Plan

CAUSE = "LoRA stands under [trainer.model.lora] in this version"

SIGNATURES = (
    Signature(
        pattern=r"(?:^|\] |[-|\"] ?)\W*(?:trainer\.)?model\.experimental\b[\w.]*\W*$",
        sample="trainer.model.experimental.lora",
        explain=CAUSE,
        versions="prime-rl",
        near=r"validation errors? for \w*(?:Config|Settings|RL)\w*",
        within=120,
    ),
    Signature(
        pattern=refused(r"(?:trainer\.)?model\.experimental"),
        sample="trainer.model.experimental.lora: Extra inputs are not permitted",
        explain=CAUSE,
        versions="prime-rl",
    ),
)

OLD, NEW = "trainer.model.experimental.lora", "trainer.model.lora"


@check("PRM006", fix="operator: prime-rl reads a file that is the user's own")
def lora_under_experimental(plan: Plan) -> Iterator[Finding]:
    found = prime_only(plan).own.get(OLD)
    if found is None:
        return
    settings = {f"{NEW}.{value.own.rpartition('.')[2]}": str(value.value) for value in below(plan, OLD)}
    yield fault(f"[{OLD}] moved; wanted [{NEW}]", found.location, settings, summary=f"rename the table to [{NEW}]")
