"""Rules for the values of a request. Each rule is written once: it gives its JSON schema, and it reads a value. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from skyrl_train.contracts.errors import TrainError

T = TypeVar("T")
Schema = Mapping[str, object]
NO_NUL = r"[^\x00]*"
_LONGEST_FOUND = 80


class RequestError(TrainError):
    """A request that cannot be used; `field` names the value that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


@dataclass(frozen=True, slots=True)
class Rule(Generic[T]):
    """`parse` raises ValueError: without a message where the value is not what `expected` says, else with one."""

    expected: str
    schema: Schema
    parse: Callable[[object], T]

    def read(self, name: str, value: object) -> T:
        """Raises RequestError."""
        try:
            return self.parse(value)
        except ValueError as error:
            found = "nothing" if value is None else f"{value!r:.{_LONGEST_FOUND}}"
            raise RequestError(name, str(error) or f"expected {self.expected}, found {found}") from error

    def allows(self, value: object) -> bool:
        try:
            self.parse(value)
        except ValueError:
            return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyRules:
    """A JSON object. Keys that it does not name are ignored: clients of other versions send some."""

    required: Mapping[str, Rule[Any]]
    optional: Mapping[str, Rule[Any]] = field(default_factory=dict)
    """Missing or null: left out of what is read, so that the reader's default holds."""
    ignored: Mapping[str, str] = field(default_factory=dict)
    """Known keys without a meaning here, each with the reason."""

    @property
    def schema(self) -> Schema:
        properties: dict[str, Schema] = {name: rule.schema for name, rule in self.required.items()}
        properties |= {name: {"anyOf": [rule.schema, {"type": "null"}]} for name, rule in self.optional.items()}
        properties |= {name: {"description": f"Ignored: {why}"} for name, why in self.ignored.items()}
        return {"type": "object", "required": list(self.required), "properties": properties}

    def read(self, body: object) -> dict[str, Any]:
        """Raises RequestError for the first value that is wrong."""
        if not isinstance(body, Mapping):
            raise RequestError("body", f"expected a JSON object, found {type(body).__name__}")
        values = {name: rule.read(name, body.get(name)) for name, rule in self.required.items()}
        given = {name: body.get(name) for name in self.optional}
        return values | {
            name: self.optional[name].read(name, value) for name, value in given.items() if value is not None
        }


def text(
    expected: str, *, pattern: str = NO_NUL, most: int | None = None, check: Callable[[str], str | None] | None = None
) -> Rule[str]:
    """`pattern` is for the whole text. `check` gives what is wrong beyond the pattern, as a message."""
    whole = re.compile(pattern)
    schema: dict[str, object] = {"type": "string", "pattern": f"^(?:{pattern})$"}
    if most is not None:
        schema["maxLength"] = most

    def parse(value: object) -> str:
        if not isinstance(value, str) or not whole.fullmatch(value) or (most is not None and len(value) > most):
            raise ValueError
        fault = None if check is None else check(value)
        if fault:
            raise ValueError(fault)
        return value

    return Rule(expected, schema, parse)


def one_of(choices: Sequence[T]) -> Rule[T]:
    """A boolean is not a number, and 2.0 is 2: as JSON schema has it."""

    def parse(value: object) -> T:
        for choice in choices:
            if not isinstance(value, bool) and value == choice:
                return choice
        raise ValueError

    return Rule(f"one of {', '.join(map(str, choices))}", {"enum": list(choices)}, parse)


def integer(least: int, most: int) -> Rule[int]:
    def parse(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError
        return value

    schema = {"type": "integer", "minimum": least, "maximum": most}
    return Rule(f"an integer from {least} to {most}", schema, parse)


def array(item: Rule[T], *, most: int | None = None) -> Rule[tuple[T, ...]]:
    at_most = {} if most is None else {"maxItems": most}

    def parse(value: object) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise ValueError
        if most is not None and len(value) > most:
            raise ValueError(f"expected at most {most}, found {len(value)}")
        return tuple(item.parse(each) for each in value)

    return Rule(f"a list, each item {item.expected}", {"type": "array", "items": item.schema, **at_most}, parse)


def mapping(names: Rule[str], values: Rule[T]) -> Rule[dict[str, T]]:
    def parse(value: object) -> dict[str, T]:
        if not isinstance(value, Mapping):
            raise ValueError
        for name, each in value.items():
            if not names.allows(name):
                raise ValueError(f"{name!r:.{_LONGEST_FOUND}} is not {names.expected}")
            if not values.allows(each):
                raise ValueError(f"{name}: expected {values.expected}, found {each!r:.{_LONGEST_FOUND}}")
        return {name: values.parse(each) for name, each in value.items()}

    schema = {"type": "object", "propertyNames": names.schema, "additionalProperties": values.schema}
    return Rule("a JSON object", schema, parse)
