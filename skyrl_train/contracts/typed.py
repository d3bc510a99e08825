"""Reads typed values out of parsed JSON: each value is of the asked type, or the error names its place.

    found = parse_object(text, "verdict.json")
    found.text("node"), found.integer("step", at_least=0), found.inner("gpu").flag("mig")

A value that is null counts as missing. A default is for a value that is missing, never for one of a wrong type.
"""

import json
import math
from collections.abc import Collection, Iterator, Mapping
from typing import TypeVar, overload

T = TypeVar("T")
MOST_BYTES = 64 << 20
MOST_DEPTH = 64
_MOST_SHOWN = 80
_KINDS = {str: "text", bool: "true or false", int: "an integer", float: "a number", list: "a list", dict: "an object"}


class FormatError(ValueError):
    """Data that is not of the expected form. `source` is the file or program, `path` the place in it."""

    def __init__(self, source: str, path: str, problem: str) -> None:
        place = f"{source}: {path}" if source and path else source or path or "it"
        super().__init__(f"{place} {problem}")
        self.source, self.path, self.problem = source, path, problem


class _Required:
    """Stands for a default that was not given."""


_REQUIRED = _Required()


class Fields:
    """A JSON object whose values are asked for by name and type."""

    __slots__ = ("_values", "path", "source")

    def __init__(self, values: Mapping[str, object], source: str = "", path: str = "") -> None:
        self._values = values
        self.source = source
        self.path = path

    def __contains__(self, name: str) -> bool:
        """Whether there is a value that is not null."""
        return self._values.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Fields({self._values!r}, {self.source!r}, {self.path!r})"

    @overload
    def text(self, name: str) -> str: ...
    @overload
    def text(self, name: str, default: T) -> str | T: ...
    def text(self, name: str, default: object = _REQUIRED) -> object:
        return self._typed(name, str, default)

    def choice(self, name: str, choices: Collection[str]) -> str:
        """One of these texts."""
        value = self.text(name)
        if value not in choices:
            raise self.error(name, f"is {_shown(value)}; expected {', '.join(choices)}")
        return value

    @overload
    def flag(self, name: str) -> bool: ...
    @overload
    def flag(self, name: str, default: T) -> bool | T: ...
    def flag(self, name: str, default: object = _REQUIRED) -> object:
        return self._typed(name, bool, default)

    @overload
    def integer(self, name: str, *, at_least: int | None = None, at_most: int | None = None) -> int: ...
    @overload
    def integer(self, name: str, default: T, *, at_least: int | None = None, at_most: int | None = None) -> int | T: ...
    def integer(
        self, name: str, default: object = _REQUIRED, *, at_least: int | None = None, at_most: int | None = None
    ) -> object:
        value = self._typed(name, int, default)
        if value is default or not isinstance(value, int):
            return value
        if (at_least is not None and value < at_least) or (at_most is not None and value > at_most):
            raise self.error(name, f"is {value}; expected {_bounds(at_least, at_most)}")
        return value

    @overload
    def number(self, name: str) -> float: ...
    @overload
    def number(self, name: str, default: T) -> float | T: ...
    def number(self, name: str, default: object = _REQUIRED) -> object:
        """An integer counts too; infinities and NaN do not."""
        value = self._present(name, default)
        if value is default:
            return default
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e308:
            return float(value)
        raise self._wrong(name, float)

    def inner(self, name: str) -> "Fields":
        return Fields(self._typed(name, dict, _REQUIRED), self.source, self._place(name))

    def inner_or_none(self, name: str) -> "Fields | None":
        return self.inner(name) if name in self else None

    def texts(self, name: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """A list of texts."""
        return self._items(name, str, default)

    def values(self, name: str) -> tuple[object, ...]:
        """A list of any values."""
        return self._items(name, object, None)

    def numbers(self, name: str) -> tuple[float, ...]:
        """A list of numbers."""
        items = self._items(name, object, None)
        found = Fields({f"{name}[{at}]": item for at, item in enumerate(items)}, self.source, self.path)
        return tuple(found.number(place) for place in found)

    def integers(self, name: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """A list of integers."""
        return self._items(name, int, default)

    def objects(self, name: str, default: "tuple[Fields, ...] | None" = None) -> "tuple[Fields, ...]":
        """A list of objects."""
        if default is not None and name not in self:
            return default
        items = self._items(name, dict, None)
        return tuple(Fields(item, self.source, f"{self._place(name)}[{at}]") for at, item in enumerate(items))

    def rows(self, name: str, width: int) -> tuple[tuple[str, ...], ...]:
        """A list of lists of `width` texts."""
        rows = self._items(name, list, None)
        for at, row in enumerate(rows):
            if len(row) != width or not all(isinstance(item, str) for item in row):
                raise self.error(f"{name}[{at}]", f"is {_shown(row)}; expected {width} texts")
        return tuple(map(tuple, rows))

    def named_texts(self, name: str) -> dict[str, str]:
        """An object whose values are all texts."""
        inner = self.inner(name)
        return {key: inner.text(key) for key in inner}

    def named_lists(self, name: str) -> dict[str, tuple[str, ...]]:
        """An object whose values are all lists of texts."""
        inner = self.inner(name)
        return {key: inner.texts(key) for key in inner}

    def value(self, name: str) -> object:
        """The value as it was parsed; None where it is missing."""
        return self._values.get(name)

    def error(self, name: str, problem: str) -> FormatError:
        """An error about one value, for a caller's own rule."""
        return FormatError(self.source, self._place(name), problem)

    def _items(self, name: str, kind: type[T], default: tuple[T, ...] | None) -> tuple[T, ...]:
        if default is not None and name not in self:
            return default
        items: list[T] = self._typed(name, list, _REQUIRED)
        for at, item in enumerate(items):
            if not _is(item, kind):
                raise self.error(f"{name}[{at}]", f"is {_shown(item)}; expected {_KINDS[kind]}")
        return tuple(items)

    def _typed(self, name: str, kind: type[T], default: object) -> T:
        value = self._present(name, default)
        if value is default or _is(value, kind):
            return value  # type: ignore[return-value]  # the overloads tell a default's type
        raise self._wrong(name, kind)

    def _present(self, name: str, default: object) -> object:
        value = self._values.get(name)
        if value is not None:
            return value
        if default is _REQUIRED:
            raise self.error(name, "is missing")
        return default

    def _wrong(self, name: str, kind: type) -> FormatError:
        return self.error(name, f"is {_shown(self._values[name])}; expected {_KINDS[kind]}")

    def _place(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name


def parse_json(
    text: str | bytes, source: str = "", *, most_bytes: int = MOST_BYTES, most_depth: int = MOST_DEPTH
) -> object:
    """Any JSON value. Raises FormatError where it is longer or deeper than allowed, or no JSON."""
    if len(text) > most_bytes:
        raise FormatError(source, "", f"has more than {most_bytes} bytes")
    try:
        found: object = json.loads(text)
    except RecursionError:
        raise FormatError(source, "", f"is nested deeper than {most_depth} levels") from None
    except ValueError as error:
        raise FormatError(source, "", f"is not JSON: {error}") from None
    if _is_deeper(text, found, most_depth):
        raise FormatError(source, "", f"is nested deeper than {most_depth} levels")
    return found


def parse_object(
    text: str | bytes, source: str = "", *, most_bytes: int = MOST_BYTES, most_depth: int = MOST_DEPTH
) -> Fields:
    """A JSON object. Raises FormatError."""
    return as_object(parse_json(text, source, most_bytes=most_bytes, most_depth=most_depth), source)


def parse_objects(text: str | bytes, source: str = "") -> tuple[Fields, ...]:
    """A JSON list of objects; none for null. Raises FormatError."""
    return Fields({"": parse_json(text, source)}, source).objects("", ())


def as_object(value: object, source: str = "") -> Fields:
    """Raises FormatError where the parsed value is no object."""
    if not isinstance(value, Mapping):
        raise FormatError(source, "", f"is {_shown(value)}; expected an object")
    return Fields(value, source)


def last_object(text: str, source: str = "") -> Fields:
    """The last line that begins an object: what a child program printed after lines of the interpreter's own."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            return parse_object(line, source)
    raise FormatError(source, "", "printed no JSON object")


def _is(value: object, kind: type) -> bool:
    if kind is dict:
        return isinstance(value, Mapping)
    return isinstance(value, kind) and (kind is object or isinstance(value, bool) == (kind is bool))


def _is_deeper(text: str | bytes, value: object, most: int) -> bool:
    """Level by level, and only where there are brackets enough."""
    openings = text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
    if openings <= most:
        return False
    level: list[object] = [value]
    for _ in range(most):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return any(isinstance(one, dict | list) for one in level)


def _bounds(least: int | None, most: int | None) -> str:
    if least is None or most is None:
        return f"at most {most}" if least is None else f"at least {least}"
    return f"{least} to {most}"


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "an object" if value else "an empty object"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if isinstance(value, float) and not math.isfinite(value):
        return "not a finite number"
    shown = json.dumps(value, ensure_ascii=False) if isinstance(value, str | int | float | None) else repr(value)
    return "null" if value is None else shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}…"
