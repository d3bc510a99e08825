"""RunConfig's JSON Schema by dotted key. RunConfig itself would import pydantic, which is slow."""

import functools
import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from skyrl_doctor.plan.similar import similar_key
from skyrl_train.config.synonyms import likely_settings

FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "defaults", "run_config.schema.json")
Rule = Mapping[str, Any]
_WORDS = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "null",
}


@functools.cache
def rules() -> dict[str, Rule]:
    """Every setting of a RunConfig by its dotted name."""
    with open(FILE, encoding="utf-8") as file:
        schema = json.load(file)
    return dict(_flat(schema, schema["$defs"], ""))


def tables() -> frozenset[str]:
    """The tables that hold settings."""
    return frozenset(key.partition(".")[0] for key in rules() if "." in key)


def why_invalid(value: object, rule: Rule) -> str | None:
    """What the rule expects, if the value breaks it; else None."""
    options = rule.get("anyOf")
    if options is not None:
        reasons = [why_invalid(value, option) for option in options]
        return None if None in reasons else reasons[0]
    kind = rule.get("type")
    if kind is not None and not _is(value, kind):
        return f"expected {_WORDS[kind]}"
    return next(_broken(value, rule), None)


def meant_key(key: str, value: object) -> str | None:
    """The known key or table of which this one is a slip of the pen, if it takes the value."""
    known = [*rules(), *sorted(tables())]
    return similar_key(key, known, lambda name: _takes(name, value))


def key_elsewhere(key: str, value: object) -> str | None:
    """The one known key of this name in another table, or of another framework's name for it, if it takes the value."""
    tail = key.rpartition(".")[2]
    fitting = [name for name in rules() if _takes(name, value)]
    found = [name for name in fitting if name.rpartition(".")[2] == tail] or likely_settings(key, among=fitting)
    return found[0] if len(found) == 1 else None


def _takes(name: str, value: object) -> bool:
    rule = rules().get(name)
    return isinstance(value, dict) if rule is None else why_invalid(value, rule) is None


def _flat(node: Rule, definitions: Mapping[str, Rule], prefix: str) -> Iterator[tuple[str, Rule]]:
    required = set(node.get("required", ()))
    for name, child in node.get("properties", {}).items():
        reference = child.get("$ref")
        if reference is not None:
            yield from _flat(definitions[reference.rpartition("/")[2]], definitions, f"{prefix}{name}.")
        elif child.get("type") is not None or "anyOf" in child or "enum" in child:
            yield prefix + name, {**child, "required": name in required}


def _is(value: object, kind: str) -> bool:
    match kind:
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return _is(value, "integer") or (isinstance(value, float) and math.isfinite(value))
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list | tuple)
        case "object":
            return isinstance(value, dict)
    return value is None


def _broken(value: Any, rule: Rule) -> Iterator[str]:
    if "enum" in rule and value not in rule["enum"]:
        yield f"expected one of {', '.join(map(repr, rule['enum']))}"
    if "minimum" in rule and value < rule["minimum"]:
        yield f"expected at least {rule['minimum']}"
    if "maximum" in rule and value > rule["maximum"]:
        yield f"expected at most {rule['maximum']}"
    if "exclusiveMinimum" in rule and value <= rule["exclusiveMinimum"]:
        yield f"expected more than {rule['exclusiveMinimum']}"
    if "minLength" in rule and len(value) < rule["minLength"]:
        yield "expected a string that is not empty"
    if "pattern" in rule and not re.search(rule["pattern"], value):
        yield f"expected the form {rule['pattern']}"
    if "items" in rule:
        yield from (f"item {item!r}: {reason}" for item in value if (reason := why_invalid(item, rule["items"])))
    if isinstance(rule.get("additionalProperties"), dict):
        inner = rule["additionalProperties"]
        yield from (f"{name}: {reason}" for name, item in value.items() if (reason := why_invalid(item, inner)))
