"""Applies overrides to defaults as Hydra does, then resolves interpolations."""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skyrl_doctor.core.model import Location
from skyrl_doctor.core.record import record
from skyrl_doctor.plan.keys import MAY_SET
from skyrl_doctor.plan.model import Problem, Value
from skyrl_doctor.plan.syntax.hydra import Override, OverrideError, looks_like_override, parse
from skyrl_doctor.plan.syntax.interpolation import MissingError, UnresolvedError, resolve

MANDATORY = "???"
_FILE = re.compile(r"[^=\s]{1,400}\.(?:ya?ml|json|toml)")
_BARE = re.compile(r"\$\{?[A-Za-z_]\w*\}?")
"""A word that is one variable."""
_ALIAS = re.compile(r"\$\{(?:oc\.select:)?(?P<key>[\w.]+)(?:,[^{}]*)?\}")
"""A value that is another key."""


_WORDS_TOO = ("save_freq", "test_freq", "rollout_is_threshold")
"""Keys that take a word beside a number: `after_each_epoch`, `0.5_4.0`."""


@record
class Given:
    """An override as written, before parsing."""

    text: str
    location: Location
    unknown: str = ""
    span: tuple[int, int] | None = None


@record
class Missing:
    """A key that the configuration lacks, and the index of its problem."""

    key: str
    value: Any
    given: Given
    problem: int


@dataclass(slots=True)
class Composition:
    """A configuration under construction: values by dotted key, and the overrides that Hydra would refuse.

    `label` names the verl in messages. `is_known`: whether it is the run's own, so that a missing key is an error.
    `is_open`: whether keys are accepted without a tree to check them against. `missing` holds unknown keys.
    `doubled`: keys added with a plus that exist, and the index of the problem.
    `refused` counts what another version of verl may accept.
    """

    values: dict[str, Value] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    label: str = "verl"
    is_known: bool = True
    is_open: bool = False
    missing: list[Missing] = field(default_factory=list)
    doubled: list[tuple[str, int]] = field(default_factory=list)
    refused: int = 0

    @classmethod
    def of(cls, defaults: Mapping[str, Any], source: str) -> "Composition":
        """Starts from raw values by dotted key."""
        return cls(
            {key: Value(key, value, None, written=False, own=key, source=source) for key, value in defaults.items()}
        )

    def apply(self, given: Given) -> None:
        """Applies one override. What Hydra would refuse is a problem."""
        if given.unknown and not looks_like_override(given.text):
            self._hide(given)
            return
        if not looks_like_override(given.text):
            self._refuse_word(given)
            return
        try:
            override = parse(given.text)
        except OverrideError as error:
            if not given.unknown:
                self._refuse(given, f"{given.text!r}: {error}", is_unread=True)
                return
            override = _as_written(given.text)
        if override.key.startswith(("hydra.", "hydra/")):
            return
        if override.package is not None and not self.is_open:
            self._refuse(given, f"{self.label} has no group {override.key}", by_version=True)
            return
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
        self._compare_kind(key, value, given)
        self._drop(key)
        self._drop_parents(key)
        location = dataclasses.replace(given.location, key=key)
        self.values[key] = Value(key, value, location, own=key, unknown=given.unknown, span=given.span)

    def _compare_kind(self, key: str, value: Any, given: Given) -> None:
        """A word where the default is a number, or true or false, is a problem. A `${…}` may be either."""
        default = self.values.get(key)
        if default is None or default.written or given.unknown or not isinstance(value, str) or "${" in value:
            return
        kind = default.value
        if not isinstance(kind, bool | int | float) or key.rpartition(".")[2] in _WORDS_TOO or _reads_as_number(value):
            return
        expected = "true or false" if isinstance(kind, bool) else "a number"
        message = f"{key} = {value!r}; expected {expected}, since {self.label} has {kind}"
        self.problems.append(
            Problem(message=message, location=dataclasses.replace(given.location, key=key), fatal=False)
        )

    def resolved(self, environ: Mapping[str, str]) -> dict[str, Value]:
        """Every value with its interpolations resolved."""
        return {key: self._resolve(value, environ) for key, value in self.values.items()}

    def has(self, key: str) -> bool:
        return key in self.values or any(name.startswith(f"{key}.") for name in self.values)

    def _is_set(self, key: str) -> bool:
        """Whether a key has a value other than null, as far as that is known."""
        value = self.values.get(key)
        if value is None or value.unknown:
            return True
        if value.value == MANDATORY:
            return False
        try:
            return self._value(value.value, key, {}) is not None
        except UnresolvedError:
            return True

    def _delete(self, key: str) -> None:
        """Removes a key. The table that held it stays."""
        self._drop(key)
        parent = key.rpartition(".")[0]
        if parent and not self.has(parent):
            self.values[parent] = Value(parent, {}, None, written=False, own=parent)

    def _is_table(self, key: str) -> bool:
        return key not in self.values or self.values[key].value == {}

    def _place(self, override: Override, given: Given) -> None:
        override = dataclasses.replace(override, key=self._target(override.key))
        key, exists = override.key, self.has(override.key)
        is_set = exists and self._is_set(key)
        if override.mode == "~":
            if is_set:
                self._delete(key)
            else:
                self._refuse(given, f"cannot delete {key}: {self.label} has no such key", by_version=True)
        elif override.mode == "+" and is_set and not isinstance(override.value, dict | list):
            self.doubled.append((key, len(self.problems)))
            message = f"{key} exists already, and + only adds new keys; use {key}=… or ++{key}=…"
            self._refuse(given, message, {f"+{key}": f"++{key}"}, by_version=True)
            self.set(key, override.value, given)
        elif isinstance(override.value, list) and exists and self._is_table(key):
            self._refuse(given, f"{key} is a table in {self.label}, not a list", by_version=True)
        elif isinstance(override.value, dict) and key in self.values and isinstance(self.values[key].value, list):
            self._refuse(given, f"{key} is a list in {self.label}, not a table", by_version=True)
        elif override.mode == "" and not exists and not self.is_open:
            self._unknown(key, override.value, given)
        elif override.mode == "" and (inner := self._unknown_inside(key, override.value)) is not None:
            self._unknown(*inner, given)
        else:
            self.set(key, override.value, given)

    def _unknown_inside(self, key: str, value: Any) -> tuple[str, Any] | None:
        """The first key of a table that the configuration's own table lacks."""
        if self.is_open or not isinstance(value, dict) or (key in self.values and self.values[key].value != {}):
            return None
        for name, inner in value.items():
            below = f"{key}.{name}"
            if not self.has(below):
                return below, inner
            found = self._unknown_inside(below, inner)
            if found is not None:
                return found
        return None

    def _unknown(self, key: str, value: Any, given: Given) -> None:
        """Refuses a key. `judge` completes the message."""
        self.missing.append(Missing(key, value, given, len(self.problems)))
        self._refuse(given, f"{self.label} has no key {key}", by_version=True)

    def _target(self, key: str) -> str:
        """The key itself, or the one below the table that a table above it refers to."""
        parts = key.split(".")
        for length in range(1, len(parts)):
            above = self.values.get(".".join(parts[:length]))
            alias = _ALIAS.fullmatch(above.value) if above is not None and isinstance(above.value, str) else None
            if alias is not None and self.has(f"{alias['key']}.{parts[length]}"):
                return ".".join((alias["key"], *parts[length:]))
        return key

    def _hide(self, given: Given) -> None:
        """Handles a word whose overrides are unknown: each default may be overridden by it.

        A variable that is not set adds nothing, as in bash.
        """
        location = dataclasses.replace(given.location, key=given.text)
        if _BARE.fullmatch(given.text) and given.unknown.endswith(" is not set here"):
            message = f"{given.unknown}, so {given.text} adds no override; set it here if the job sets it"
            self.problems.append(Problem(message=message, location=location, fatal=False))
            return
        message = f"{given.text}: {given.unknown}; its overrides are unknown"
        self.problems.append(Problem(message=message, location=location, fatal=False, is_unread=True))
        if not given.unknown.startswith("depends on"):  # most runs do not take the branch
            self._hide_defaults(f"{given.text}{MAY_SET}: {given.unknown}")

    def _refuse_word(self, given: Given) -> None:
        """Handles a word that is no override. A file in its place would set what the defaults do not."""
        is_file = _FILE.fullmatch(given.text) is not None
        instead = ", or --config-path and --config-name for a file" if is_file else ""
        self._refuse(given, f"{given.text!r} is not an override; expected KEY=VALUE{instead}", is_unread=True)
        if is_file:
            self._hide_defaults(f"{given.text}{MAY_SET}, and verl does not read it")

    def _hide_defaults(self, why: str) -> None:
        for key, value in self.values.items():
            if not value.written:
                self.values[key] = dataclasses.replace(value, unknown=why)

    def _refuse(
        self,
        given: Given,
        message: str,
        moves: Mapping[str, str] | None = None,
        *,
        by_version: bool = False,
        is_unread: bool = False,
    ) -> None:
        """Keeps a problem. One that another version of verl would not have is an error only if the version is known."""
        self.refused += by_version
        key = given.text.lstrip("+~").partition("=")[0]
        location = dataclasses.replace(given.location, key=key)
        fatal = self.is_known or not by_version
        self.problems.append(
            Problem(message=message, location=location, moves=moves or {}, fatal=fatal, is_unread=is_unread)
        )

    def _drop(self, key: str) -> None:
        """Removes a key, or all that are below it."""
        if self.values.pop(key, None) is not None:
            return
        for name in [name for name in self.values if name.startswith(f"{key}.")]:
            del self.values[name]

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
        return value if made is value.value else dataclasses.replace(value, value=made)

    def _value(self, raw: Any, key: str, environ: Mapping[str, str]) -> Any:
        if isinstance(raw, str) and "${" in raw:
            return resolve(raw, key=key, find=self._raw, environ=environ)
        if isinstance(raw, list):
            return [self._value(item, key, environ) for item in raw]
        return raw


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _as_written(text: str) -> Override:
    """An override whose value is not known and has no form."""
    name, _, value = text.partition("=")
    key = name.lstrip("+~")
    return Override(key.partition("@")[0], value, name[: len(name) - len(key)])
