"""Reads the output of a child program: one JSON object, possibly after lines that the interpreter printed at start-up."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from skyrl_doctor.core.errors import CouldNotLook

T = TypeVar("T")


class Answer:
    """The fields of a child's answer. A missing field or one of the wrong type raises CouldNotLook."""

    def __init__(self, fields: Mapping[str, Any], who: str) -> None:
        self._fields = fields
        self._who = who

    def __contains__(self, name: str) -> bool:
        return self._fields.get(name) is not None

    def text(self, name: str) -> str:
        return self._typed(name, str)

    def flag(self, name: str) -> bool:
        return self._typed(name, bool)

    def number(self, name: str) -> float:
        value = self._fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._odd(name)
        try:
            return float(value)
        except OverflowError:
            raise self._odd(name) from None

    def code(self, name: str) -> int | None:
        """An exit status; None after a time-out."""
        value = self._fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int | None):
            raise self._odd(name)
        return value

    def inner(self, name: str) -> "Answer | None":
        if name not in self:
            return None
        return Answer(self._typed(name, dict), self._who)

    def texts(self, name: str) -> tuple[str, ...]:
        items = self._typed(name, list)
        if not all(isinstance(item, str) for item in items):
            raise self._odd(name)
        return tuple(items)

    def rows(self, name: str, width: int) -> tuple[tuple[str, ...], ...]:
        rows = self._typed(name, list)
        for row in rows:
            if not isinstance(row, list) or len(row) != width or not all(isinstance(item, str) for item in row):
                raise self._odd(name)
        return tuple(map(tuple, rows))

    def lists(self, name: str) -> dict[str, tuple[str, ...]]:
        table = Answer(self._typed(name, dict), self._who)
        return {key: table.texts(key) for key in self._fields[name]}

    def _typed(self, name: str, kind: type[T]) -> T:
        value = self._fields.get(name)
        if not isinstance(value, kind):
            raise self._odd(name)
        return value

    def _odd(self, name: str) -> CouldNotLook:
        return CouldNotLook(f"{self._who}: unexpected {name} in its answer: {str(self._fields.get(name))[:80]!r}")


def answer_of(text: str, who: str) -> Answer:
    """Parses the last line that is a JSON object. Lines before it are ignored."""
    for line in reversed(text.splitlines()):
        if not line.startswith("{"):
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            break
        if isinstance(fields, dict):
            return Answer(fields, who)
    raise CouldNotLook(f"{who}: printed no JSON object")
