"""Renames from the prime-rl schema of January 2026 to today's; a removed key has a reason instead."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import field

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.plan.names.prime_rl import table


@record
class Rename:
    """One old key, what to do, and the new settings."""

    old: Value
    advice: str
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def line(self) -> int | None:
        return self.old.location.line if self.old.location else None


def renames(plan: Plan) -> Iterator[Rename]:
    """Every old key of the file, in its order. A table is skipped if its keys have rules of their own."""
    known: Mapping[str, Mapping[str, str]] = table("prime_rl_renames.json")["keys"]
    for key, value in plan.own.items():
        rule = _rule(key, known)
        if rule is None or _has_renamed_children(key, plan, known):
            continue
        if "to" in rule:
            made = _written(value.value, rule.get("value", ""))
            yield Rename(value, f"use {rule['to']}", {rule["to"]: made})
        else:
            yield Rename(value, rule["why"])


def _rule(key: str, known: Mapping[str, Mapping[str, str]]) -> Mapping[str, str] | None:
    """The rule of the key itself, or of its table."""
    if key in known:
        return known[key]
    parent, _, name = key.rpartition(".")
    found = known.get(parent)
    if found is None or "[" in key:
        return None
    return found if "why" in found else {"to": f"{found['to']}.{name}"} if found.get("value") == "table" else None


def _has_renamed_children(key: str, plan: Plan, known: Mapping[str, Mapping[str, str]]) -> bool:
    children = (other for other in plan.own if other.startswith(f"{key}.") and "[" not in other)
    return any(_rule(child, known) is not None for child in children)


def _written(value: object, how: str) -> str:
    """The value in TOML syntax."""
    if how == "count":
        return str(len(value)) if isinstance(value, list) else "1"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_written(inner, '')}" for name, inner in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False, default=str)
