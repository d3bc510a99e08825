"""Renames from the prime-rl schema of January 2026 to today's; a removed key has a reason instead."""

from collections.abc import Callable, Iterator, Mapping

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.answers import PRIME, trainer_shares_gpu
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.plan.names.prime_rl import table

_OWN_KEYS = ("seq_len", "orchestrator.buffer.type", "trainer.model.ac")
_OWN_TABLES = (
    "orchestrator.sampling",
    "orchestrator.train.sampling",
    "orchestrator.env",
    "trainer.model.experimental.lora",
)
"""Keys, and tables with all of their keys, that PRM001 to PRM006 judge."""


@record
class Rename:
    """One old key, what to do, its new name, and its new value where that changes too."""

    old: Value
    advice: str
    target: str = ""
    value: str = ""

    @property
    def moves(self) -> Mapping[str, str]:
        return {self.old.own: self.target} if self.target else {}

    @property
    def settings(self) -> Mapping[str, str]:
        return {self.target: self.value} if self.value else {}

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
            yield Rename(value, f"use {rule['to']}", rule["to"], _count(value.value) if _is_counted(rule) else "")
        else:
            yield Rename(value, rule["why"])


def judged_by_name(plan: Plan) -> Callable[[str], bool]:
    """Whether PRM001 to PRM007 judge a key of a file of unknown version."""
    if not plan.is_of(*PRIME) or plan.schema:
        return lambda _: False
    tables = (*_OWN_TABLES, *(rename.old.own for rename in renames(plan)))
    return lambda key: key in _OWN_KEYS or any(key == one or key.startswith(f"{one}.") for one in tables)


def unmoved(plan: Plan, file: str) -> Iterator[str]:
    """What a migration of this file leaves to the user, with the reason."""
    for rename in renames(plan):
        if not rename.target and rename.old.location is not None and rename.old.location.file == file:
            yield f"line {rename.line}: {rename.old.own}: {rename.advice}"
    if trainer_shares_gpu(plan):
        yield "trainer and inference share a GPU, but today's launcher gives each its own"


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


def _is_counted(rule: Mapping[str, str]) -> bool:
    """Whether the new key takes the number of items of the old one."""
    return rule.get("value") == "count"


def _count(value: object) -> str:
    return str(len(value)) if isinstance(value, list) else "1"
