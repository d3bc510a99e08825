"""The environments are one table where a list of them is wanted.

## What it does
Looks at `orchestrator.env` (January 2026) and `orchestrator.train.source` (today): an array of tables, written with
double brackets, each of which names its environment.

## Why it breaks training
prime-rl refuses the file; a list without an entry ends the run as well.

## How to fix
Write `[[orchestrator.env]]` with an `id`; today `[[orchestrator.train.source]]` with
`env = { taskset = { id = "…" } }`.

## Example
    no env configured — set env = { taskset = { id = "<id>" } }
"""

from collections.abc import Iterator

from checks.prm.shared import prime_only, refused
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.dialects.prime import TODAY
from skyrl_doctor.plan.findings import fault
from skyrl_doctor.plan.model import Plan

CAUSE = "environments stand in another form in this version"

SIGNATURES = (
    Signature(
        pattern=r"(?:^|\] |[-|\"] ?)\W*(?:orchestrator\.)?env(?:ironment)?\b[\w.]*\W*$",
        sample="orchestrator.env",
        explain=CAUSE,
        versions="prime-rl",
        near=r"validation errors? for \w*(?:Config|Settings|RL)\w*",
        within=120,
    ),
    Signature(
        pattern=r"\bno env configured\b",
        sample='ValueError: no env configured - set env = { taskset = { id = "<id>" } }',
        explain="no environment stands where this version looks for it",
        versions="prime-rl",
    ),
    Signature(
        pattern=refused(r"(?:orchestrator\.)?env(?:ironment)?"),
        sample="orchestrator.environment: Extra inputs are not permitted",
        explain=CAUSE,
        versions="prime-rl",
    ),
)

SEED_KEY, TODAY_KEY = "orchestrator.env", "orchestrator.train.source"


@check("PRM005", fix="operator: prime-rl reads a file that is the user's own")
def env_list_form(plan: Plan) -> Iterator[Finding]:
    own = prime_only(plan).own
    for key in (SEED_KEY, TODAY_KEY):
        found = own.get(key)
        if found is not None and not isinstance(found.value, list):
            message = f"[{key}] is one table; wanted a list of tables: [[{key}]]"
            yield fault(message, found.location, summary=f"write [[{key}]] in double brackets")
    sources = own.get(TODAY_KEY)
    if not plan.is_of(TODAY) or sources is None or not isinstance(sources.value, list):
        return
    for index in range(len(sources.value)):
        entry = f"{TODAY_KEY}[{index}]"
        if f"{entry}.env" not in own:
            place = own[entry].location if entry in own else sources.location
            message = f"{entry} names no environment; wanted env = {{ taskset = {{ id = … }} }}"
            yield fault(message, place, summary="name the environment")
