"""The file uses names that prime-rl has given up.

## What it does
Holds every key against the table of renamed ones. A file that is written in the schema of January 2026 throughout gets
one notice with the whole translation, as the prime-rl of its time may still be the one that is installed. A file in
today's schema with old keys in it gets an error for each.

## Why it breaks training
Since 2026-07-30 prime-rl refuses every old name, and names one at a time.

## How to fix
Rename as the finding says. Some keys have no successor; the finding says for each of them why.

## Example
    orchestrator.rollouts_per_example
      Extra inputs are not permitted [type=extra_forbidden, ...]
"""

from collections.abc import Iterator

from checks.prm.shared import prime_only
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.plan.dialects.prime import SEED
from skyrl_doctor.plan.findings import fault
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.prime_renames import Rename, renames

TOLD_ELSEWHERE = ("orchestrator.sampling.top_p", "orchestrator.buffer.type", "trainer.model.experimental.lora")
"""Keys that PRM003, PRM004 and PRM006 tell of."""


@check("PRM007", fix="operator: which prime-rl is installed decides which schema is right")
def key_renamed_since(plan: Plan) -> Iterator[Finding]:
    found = tuple(renames(prime_only(plan)))
    if not found:
        return
    if plan.is_of(SEED):
        yield _notice(found)
        return
    for rename in found:
        if rename.old.own.startswith(TOLD_ELSEWHERE):
            continue
        yield fault(f"{rename.old.own} is of an older schema; {rename.wanted}", rename.old.location, rename.settings)


def _notice(found: tuple[Rename, ...]) -> Finding:
    settings = {key: value for rename in found for key, value in rename.settings.items()}
    return fault(
        f"the schema of January 2026: {len(found)} of its keys are refused by prime-rl since 2026-07-30; wanted today's names there",
        found[0].old.location,
        settings,
        summary="rename the keys when prime-rl is brought up to date",
        severity=Severity.INFO,
        evidence=tuple(f"line {rename.line}: {rename.old.own}: {rename.wanted}" for rename in found),
    )
