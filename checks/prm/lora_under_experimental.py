"""`trainer.model.experimental.lora` moved to `trainer.model.lora`.

## What it does
Finds the table `trainer.model.experimental.lora`.

## Why it breaks training
prime-rl rejects the old key. An intermediate version ignored it, trained all weights and ran out of memory.

## How to fix
Rename the table to `[trainer.model.lora]`.

## Example
    trainer.model.experimental.lora
      Extra inputs are not permitted [type=extra_forbidden, ...]
"""

from collections.abc import Iterator

from checks.prm.shared import of_unknown_version, refused
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan

CAUSE = "this version expects LoRA under [trainer.model.lora]"

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
    found = of_unknown_version(plan).own.get(OLD)
    if found is None:
        return
    yield config_finding(
        f"[{OLD}] moved; expected [{NEW}]", found.location, moves={OLD: NEW}, summary=f"rename the table to [{NEW}]"
    )
