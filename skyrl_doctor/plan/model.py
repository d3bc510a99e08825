"""A Plan is a table of values by canonical key; each knows its place in the user's own file.

Canonical keys are the dotted names of RunConfig (skyrl_train.config). Every dialect is read into them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Location

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Value:
    """What a key is set to. `written` tells what the user wrote from what a default supplied."""

    key: str
    value: Any
    location: Location | None = None
    written: bool = True

    @property
    def shown(self) -> str:
        """The user's own key with its value, for messages."""
        name = self.location.key if self.location and self.location.key else self.key
        return f"{name} = {self.value!r}" if isinstance(self.value, str) else f"{name} = {self.value}"


@dataclass(frozen=True, slots=True)
class Plan:
    """All that is known of the run before it starts. Empty where no target was given."""

    targets: tuple[str, ...] = ()
    dialect: str = "none"
    values: Mapping[str, Value] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.targets)

    def find(self, key: str) -> Value | None:
        """The value of a canonical key, or None where neither the user nor a default says."""
        found = self.values.get(key)
        return None if found is None or found.value is None else found

    def text(self, key: str) -> str | None:
        return self._typed(key, str, "a text")

    def integer(self, key: str) -> int | None:
        return self._typed(key, int, "a whole number")

    def number(self, key: str) -> float | None:
        found = self.find(key)
        if found is not None and isinstance(found.value, int) and not isinstance(found.value, bool):
            return float(found.value)
        return self._typed(key, float, "a number")

    def flag(self, key: str) -> bool | None:
        return self._typed(key, bool, "true or false")

    def texts(self, key: str) -> tuple[str, ...] | None:
        found = self.find(key)
        if found is None:
            return None
        items = [found.value] if isinstance(found.value, str) else found.value
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise CouldNotLook(f"{found.shown}: wanted a list of texts")
        return tuple(items)

    def _typed(self, key: str, kind: type[T], wanted: str) -> T | None:
        found = self.find(key)
        if found is None:
            return None
        if not isinstance(found.value, kind) or (isinstance(found.value, bool) and kind is not bool):
            raise CouldNotLook(f"{found.shown}: wanted {wanted}")
        return found.value
