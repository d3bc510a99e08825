"""Applies overrides to defaults as Hydra does, then resolves interpolations."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from skyrl_doctor.core.model import Location
from skyrl_doctor.core.record import record
from skyrl_doctor.plan.dialects.verl.defaults import Defaults
from skyrl_doctor.plan.model import Problem, Value
from skyrl_doctor.plan.similar import same_kind, similar_key
from skyrl_doctor.plan.syntax.hydra import Override, OverrideError, looks_like_override, parse
from skyrl_doctor.plan.syntax.interpolation import MissingError, UnresolvedError, resolve
from skyrl_train.contracts.verl_keys import renamed

GROUPS = ("model_engine",)
MANDATORY = "???"


@record
class Given:
    """An override as written, before parsing."""

    text: str
    location: Location
    unknown: str = ""
    span: tuple[int, int] | None = None


@dataclass(slots=True)
class Composition:
    """A configuration under construction: values by dotted key, and the overrides that Hydra would refuse."""

    values: dict[str, Value] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @classmethod
    def of(cls, defaults: Defaults) -> "Composition":
        return cls(
            {
                key: Value(key, value, None, written=False, own=key, source=defaults.source)
                for key, value in defaults.values.items()
            }
        )

    def apply(self, given: Given) -> None:
        """Applies one override. What Hydra would refuse is a problem."""
        if given.unknown and not looks_like_override(given.text):
            self._hide(given)
            return
        if not looks_like_override(given.text):
            self._refuse(given, f"{given.text!r} is not an override; expected KEY=VALUE")
            return
        try:
            override = parse(given.text)
        except OverrideError as error:
            if given.unknown:
                override = Override(given.text.lstrip("+~").partition("=")[0], given.text.partition("=")[2], "++")
            else:
                self._refuse(given, f"{given.text!r}: {error}")
                return
        if override.package is not None or override.key in GROUPS or override.key.startswith("hydra."):
            return  # a group choice, or Hydra's own
        if given.unknown:
            override = dataclasses.replace(override, value=given.text.partition("=")[2])
        self._place(override, given)

    def set(self, key: str, value: Any, given: Given) -> None:
        """Sets a value; for a table, sets the values below it."""
        if isinstance(value, dict) and value:
            for name, inner in value.items():
                self.set(f"{key}.{name}", inner, given)
            return
        if value == {} and self.has(key) and key not in self.values:
            return  # merging an empty table changes nothing
        self._drop(key)
        self._drop_parents(key)
        location = dataclasses.replace(given.location, key=key)
        self.values[key] = Value(key, value, location, own=key, unknown=given.unknown, span=given.span)

    def resolved(self, environ: Mapping[str, str]) -> dict[str, Value]:
        """Every value with its interpolations resolved."""
        return {key: self._resolve(value, environ) for key, value in self.values.items()}

    def has(self, key: str) -> bool:
        return key in self.values or any(name.startswith(f"{key}.") for name in self.values)

    def _place(self, override: Override, given: Given) -> None:
        key, exists = override.key, self.has(override.key)
        is_set = exists and (key not in self.values or self.values[key].value is not None)
        if override.mode == "~":
            if is_set:
                self._drop(key)
            else:
                self._refuse(given, f"cannot delete {key}: no such key")
        elif override.mode == "+" and is_set and not isinstance(override.value, dict | list):
            message = f"{key} exists already, and + only adds new keys; use {key}=… or ++{key}=…"
            self._refuse(given, message, {f"+{key}": f"++{key}"})
            self.set(key, override.value, given)
        elif override.mode == "" and not exists:
            self._unknown(override, given)
        else:
            self.set(key, override.value, given)

    def _unknown(self, override: Override, given: Given) -> None:
        key = override.key
        meant = renamed(key) or similar_key(
            key, self.values, lambda name: same_kind(override.value, self.values[name].value)
        )
        hint = f"did you mean {meant}?" if meant else f"to add a new key use +{key}=…"
        self._refuse(given, f"verl has no key {key}; {hint}", {key: meant} if meant else {})

    def _hide(self, given: Given) -> None:
        """Handles a word whose overrides are unknown: each default may be overridden by it."""
        location = dataclasses.replace(given.location, key=given.text)
        message = f"{given.text}: {given.unknown}; its overrides are unknown"
        self.problems.append(Problem(message=message, location=location, fatal=False))
        in_branch = given.unknown.startswith("depends on")  # most runs do not take the branch
        for key, value in self.values.items():
            if not value.written and not in_branch:
                self.values[key] = dataclasses.replace(value, unknown=f"{given.text} may set it: {given.unknown}")

    def _refuse(self, given: Given, message: str, moves: Mapping[str, str] | None = None) -> None:
        key = given.text.lstrip("+~").partition("=")[0]
        location = dataclasses.replace(given.location, key=key)
        self.problems.append(Problem(message=message, location=location, moves=moves or {}))

    def _drop(self, key: str) -> None:
        for name in [name for name in self.values if name.startswith(f"{key}.")]:
            del self.values[name]
        self.values.pop(key, None)

    def _drop_parents(self, key: str) -> None:
        """Removes an empty table or null at `a` when `a.b` is set."""
        parts = key.split(".")
        for length in range(1, len(parts)):
            self.values.pop(".".join(parts[:length]), None)

    def _raw(self, key: str) -> Any:
        found = self.values.get(key)
        if found is not None:
            if found.unknown:
                raise UnresolvedError(found.unknown)
            if found.value == MANDATORY:
                raise MissingError(f"{key} is not set")
            return found.value
        if self.has(key):
            return {}
        raise MissingError(f"key {key} does not exist")

    def _resolve(self, value: Value, environ: Mapping[str, str]) -> Value:
        if value.unknown:
            return value
        if value.value == MANDATORY:
            return dataclasses.replace(value, value=None)
        try:
            made = self._value(value.value, value.key, environ)
        except UnresolvedError as error:
            return dataclasses.replace(value, unknown=str(error))
        return dataclasses.replace(value, value=made)

    def _value(self, raw: Any, key: str, environ: Mapping[str, str]) -> Any:
        if isinstance(raw, str) and "${" in raw:
            return resolve(raw, key=key, find=self._raw, environ=environ)
        if isinstance(raw, list):
            return [self._value(item, key, environ) for item in raw]
        return raw


def unresolved_problems(values: Mapping[str, Value]) -> Iterator[Problem]:
    """A problem for each written value that is unknown."""
    for value in values.values():
        if value.unknown and value.location is not None:
            yield Problem(message=f"{value.own} = {value.value}: {value.unknown}", location=value.location, fatal=False)
