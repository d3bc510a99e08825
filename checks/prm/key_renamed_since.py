"""The file uses keys that prime-rl has renamed.

## What it does
Compares every key with the table of renamed keys. A file that uses only the schema of January 2026 gets one notice
with the whole translation, because a prime-rl of that time may be installed. A file in the current schema gets a warning
for each old key if an older version takes all of its keys, and an error if none does. Where the version is known (a
checkout around the file, an installed package), CFG004 compares the keys with that version instead.

## Why it breaks training
Since 2026-07-30 prime-rl rejects every old name and reports one at a time.

## How to fix
Rename the keys to the names in the finding. Some keys have no successor; the finding gives the reason.

## Example
    orchestrator.rollouts_per_example
      Extra inputs are not permitted [type=extra_forbidden, ...]
"""

from collections.abc import Iterator

from checks.prm.shared import of_unknown_version
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.prime_renames import Rename, renames
from skyrl_train.config.dialect import SEED

TOLD_ELSEWHERE = ("orchestrator.sampling.top_p", "orchestrator.buffer.type", "trainer.model.experimental.lora")
"PRM003, PRM004 and PRM006 report these keys."


@check("PRM007", fix="operator: which prime-rl is installed decides which schema is right")
def key_renamed_since(plan: Plan) -> Iterator[Finding]:
    found = tuple(renames(of_unknown_version(plan)))
    if not found:
        return
    if plan.is_of(SEED):
        yield _notice(found)
        return
    severity = Severity.ERROR if plan.problems else Severity.WARNING  # an older version may take every key of the file
    for rename in found:
        if rename.old.own.startswith(TOLD_ELSEWHERE):
            continue
        yield config_finding(
            f"{rename.old.own} is a key of an older schema; {rename.advice}",
            rename.old.location,
            rename.settings,
            severity=severity,
            moves=rename.moves,
        )


def _notice(found: tuple[Rename, ...]) -> Finding:
    settings = {key: value for rename in found for key, value in rename.settings.items()}
    moves = {old: new for rename in found for old, new in rename.moves.items()}
    return config_finding(
        f"the file uses the schema of January 2026; prime-rl of 2026-07-30 or later rejects {len(found)} of its keys; with that version, use the current name{'' if len(found) == 1 else 's'}",
        found[0].old.location,
        settings,
        moves=moves,
        summary="when you upgrade prime-rl, rename these keys",
        severity=Severity.INFO,
        evidence=tuple(f"line {rename.line}: {rename.old.own}: {rename.advice}" for rename in found),
    )
