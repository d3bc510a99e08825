"""`orchestrator.buffer.type` is not a setting of prime-rl.

## What it does
Finds `type` in `[orchestrator.buffer]`.

## Why it breaks training
prime-rl rejects the file. In January 2026 the buffer had a switch instead; the current schema has no buffer.

## How to fix
January 2026: `online_difficulty_filtering = true`. Current schema: `filter_zero_advantages = true` in
`[orchestrator.train]`.

## Example
    orchestrator.buffer.type
      Extra inputs are not permitted [type=extra_forbidden, ...]
"""

from collections.abc import Iterator

from checks.prm.shared import of_unknown_version, refused
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.dialect import TODAY

CAUSE = "this version does not have this setting of [orchestrator.buffer]"

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
        pattern=refused(r"(?:orchestrator\.buffer|buffer\.type)"),
        sample="orchestrator.buffer.type: Input should be 'simple' or 'difficulty-pool'",
        explain="this version has no such setting of [orchestrator.buffer], or not with this value",
        versions="prime-rl",
    ),
)

KEY = "orchestrator.buffer.type"


@check("PRM004", fix="operator: prime-rl reads a file that is the user's own")
def buffer_type(plan: Plan) -> Iterator[Finding]:
    found = of_unknown_version(plan).own.get(KEY)
    if found is None:
        return
    today = plan.is_of(TODAY)
    instead = (
        "orchestrator.train.filter_zero_advantages" if today else "orchestrator.buffer.online_difficulty_filtering"
    )
    yield config_finding(
        f"{found.assignment}; expected {instead} = true", found.location, {instead: "true"}, removes=(KEY,)
    )
