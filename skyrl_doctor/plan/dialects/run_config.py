"""Reads RunConfig TOML, whose keys are the canonical keys."""

from collections.abc import Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, cast

from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.dialects import schema
from skyrl_doctor.plan.dialects.reading import Reading, by_key, default, own_values
from skyrl_doctor.plan.model import Problem, Value
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.leaf import Leaf
from skyrl_doctor.plan.syntax.toml import leaves
from skyrl_train.config.constraints import TOLD_TOGETHER

NAME = "run-config"
IGNORED = ("waivers",)
SOURCE = "default"


def is_run_config(table: Mapping[str, object]) -> bool:
    """Whether most of a table's first names are sections of a RunConfig."""
    names = [name for name in table if name not in IGNORED]
    return 2 * sum(name in schema.tables() for name in names) >= len(names)


def unknown_keys(found: Iterable[Leaf]) -> int:
    """How many values of a file are no setting of a RunConfig."""
    names = schema.rules()
    return sum(not leaf.is_table and leaf.key not in names and leaf.path[0] not in (*IGNORED, "env") for leaf in found)


def read(source: Source) -> Reading:
    """Values and defaults of a RunConfig. Everything that RunConfig would refuse is a problem."""
    found = [leaf for leaf in leaves(source) if leaf.path[0] not in IGNORED]
    own = own_values(found, source.file)
    known = schema.rules()
    written = [value for key, value in own.items() if key in known or key.startswith("env.")]
    values = by_key(written, _defaults(known))
    # Rules between settings need settings of the right type.
    problems = tuple(_problems(found, own, known, source.file)) or tuple(_rule_problems(values, source.file))
    return Reading(dialect=NAME, values=values, own=own, problems=problems)


def _rule_problems(values: Mapping[str, Value], file: str) -> Iterator[Problem]:
    """Problems of the rules without a check of their own."""
    tables: dict[str, dict[str, object]] = {}
    for key, value in values.items():
        table, _, name = key.partition(".")
        tables.setdefault(table, {})[name] = value.value
    config = cast(
        Any, SimpleNamespace(**{name: SimpleNamespace(**body) for name, body in tables.items() if name != "env"})
    )
    for violation in (violation for rule in TOLD_TOGETHER for violation in rule(config)):
        location = values[violation.key].location or Location(file, None, violation.key)
        yield Problem(message=violation.message, location=location, settings=violation.settings, fatal=violation.fatal)


def _defaults(known: Mapping[str, schema.Rule]) -> Iterator[Value]:
    for key, rule in known.items():
        if "default" in rule:
            yield default(key, rule["default"], own=key, source=SOURCE)
    yield default("env", {}, own="env", source=SOURCE)


def _problems(
    found: list[Leaf], own: Mapping[str, Value], known: Mapping[str, schema.Rule], file: str
) -> Iterator[Problem]:
    for leaf in found:
        if leaf.key.startswith("env."):
            continue
        rule = known.get(leaf.key)
        if rule is None:
            yield from _unknown(leaf, file)
        elif (reason := schema.why_invalid(leaf.value, rule)) is not None:
            message = f"{own[leaf.key].assignment}: {reason}"
            yield Problem(message=message, location=Location(file, leaf.line, leaf.key))
    for key, rule in known.items():
        if rule["required"] and key not in own:
            expected = rule["description"]
            message = f"{key} is not set; set it to {expected[0].lower()}{expected[1:].rstrip('.')}"
            yield Problem(message=message, location=Location(file, None, key))


def _unknown(leaf: Leaf, file: str) -> Iterator[Problem]:
    """The problem of a key that RunConfig does not have; none if its table has one already."""
    message = _why_unknown(leaf)
    if message is not None:
        meant = schema.meant_key(leaf.key, leaf.value)
        yield Problem(
            message=message, location=Location(file, leaf.line, leaf.key), moves={leaf.key: meant} if meant else {}
        )


def _why_unknown(leaf: Leaf) -> str | None:
    parts = [str(part) for part in leaf.path]
    is_section = len(parts) == 1 and parts[0] in schema.tables()
    if is_section:
        return None if isinstance(leaf.value, dict) else f"`{leaf.key}` must be a table"
    if len(parts) > 1 and parts[0] not in schema.tables():
        return None  # its table is a problem already
    if len(parts) > 2 or isinstance(leaf.path[-1], int):
        return None  # so is its parent
    meant = schema.meant_key(leaf.key, leaf.value) or schema.key_elsewhere(leaf.key, leaf.value)
    return f"unknown setting `{leaf.key}`; " + (f"did you mean `{meant}`?" if meant else "remove it")
