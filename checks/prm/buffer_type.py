"""The buffer of tasks is configured by a type, which it does not have.

## What it does
Looks for `type` in `[orchestrator.buffer]`.

## Why it breaks training
prime-rl refuses the file. In January 2026 the buffer had a switch instead; today there is no buffer any more.

## How to fix
January 2026: `online_difficulty_filtering = true`. Today: `filter_zero_advantages = true` in `[orchestrator.train]`.

## Example
    orchestrator.buffer.type
      Extra inputs are not permitted [type=extra_forbidden, ...]
"""

from collections.abc import Iterator

from checks.prm.shared import prime_only, refused
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.dialects.prime import TODAY
from skyrl_doctor.plan.findings import fault
from skyrl_doctor.plan.model import Plan

CAUSE = "the buffer's type is not one of this version"

SIGNATURES = (
    Signature(
        pattern=r"(?:^|\] |[-|\"] ?)\W*(?:orchestrator\.)?buffer\b[\w.]*\W*$",
        sample="orchestrator.buffer.type",
        explain=CAUSE,
        versions="prime-rl",
        near=r"validation errors? for \w*(?:Config|Settings|RL)\w*",
        within=120,
    ),
    Signature(
        pattern=refused(r"(?:orchestrator\.)?buffer"),
        sample="orchestrator.buffer.type: Input should be 'simple' or 'difficulty-pool'",
        explain=CAUSE,
        versions="prime-rl",
    ),
)

KEY = "orchestrator.buffer.type"


@check("PRM004", fix="operator: prime-rl reads a file that is the user's own")
def buffer_type(plan: Plan) -> Iterator[Finding]:
    found = prime_only(plan).own.get(KEY)
    if found is None:
        return
    today = plan.is_of(TODAY)
    instead = (
        "orchestrator.train.filter_zero_advantages" if today else "orchestrator.buffer.online_difficulty_filtering"
    )
    yield fault(f"{found.shown}; wanted {instead} = true", found.location, {instead: "true"})
