"""The environments must be a list of tables.

## What it does
Checks that `orchestrator.env` (January 2026) and `orchestrator.train.source` (current schema) are lists of tables,
written with double brackets, and that each table names its environment.

## Why it breaks training
prime-rl rejects the file. An empty list ends the run too.

## How to fix
Write `[[orchestrator.env]]` with an `id`; in the current schema `[[orchestrator.train.source]]` with `env = { taskset
= { id = "…" } }`.

## Example
    no env configured — set env = { taskset = { id = "<id>" } }
"""

from collections.abc import Iterator

from checks.prm.shared import prime_only, refused
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.dialect import TODAY

CAUSE = "this version expects the environments in another form"

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
        explain="no environment is configured where this version looks for it",
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
            message = f"[{key}] is one table; expected a list of tables: [[{key}]]"
            yield config_finding(message, found.location, summary=f"use double brackets: [[{key}]]")
    sources = own.get(TODAY_KEY)
    if not plan.is_of(TODAY) or sources is None or not isinstance(sources.value, list):
        return
    for index in range(len(sources.value)):
        entry = f"{TODAY_KEY}[{index}]"
        if f"{entry}.env" not in own:
            place = own[entry].location if entry in own else sources.location
            message = f"{entry} names no environment; expected env = {{ taskset = {{ id = … }} }}"
            yield config_finding(message, place, summary="name the environment")
