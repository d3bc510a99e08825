"""A Plan is a table of values by canonical key; each value knows its location in the user's file.

Canonical keys are the dotted names of RunConfig (skyrl_train.config) and the few more of plan/keys.py.
Every dialect is read into canonical keys; `own` has the same values under the dialect's own names.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeVar

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Location, Severity
from skyrl_doctor.core.record import record

T = TypeVar("T")


@record
class Value:
    """The value of a key. `written` is true if the user wrote it, false for a default.

    `own` is the dialect's name of the key and `source` the origin of a default. `unknown` is the reason why a written
    value is not known (a command substitution, an unset variable); then `value` is the text as written.
    """

    key: str
    value: Any
    location: Location | None = None
    written: bool = True
    own: str = ""
    source: str = ""
    unknown: str = ""
    span: tuple[int, int] | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The key in the user's dialect."""
        return self.own or (self.location.key if self.location and self.location.key else self.key)

    @property
    def assignment(self) -> str:
        """`key = value` in the user's dialect, for messages."""
        origin = f" ({self.source})" if self.source else ""
        value = repr(self.value) if isinstance(self.value, str) else str(self.value)
        return f"{self.name} = {value}{origin}"


@record(kw_only=True)
class Problem:
    """A mistake in a target that its own program would refuse or misread. `moves`: keys and their right names.

    `is_note`: nothing is wrong with it: another version refuses it, or only the running script knows the value.
    `is_unread`: it is a word of the command whose settings are not known.
    """

    message: str
    location: Location
    settings: Mapping[str, str] = field(default_factory=dict)
    moves: Mapping[str, str] = field(default_factory=dict)
    fatal: bool = True
    is_note: bool = False
    is_unread: bool = False
    remedy: str = ""
    """What to do, if it is not an edit."""


@record
class Release:
    """The release of a framework by which a plan is judged.

    `label` names it and how it is known. `versions` are the releases whose rules the run may meet, the likeliest first: one
    if the run's own is known. `words` are pairs of key and word that the run's own checkout has besides.
    """

    label: str
    versions: tuple[str, ...]
    words: frozenset[tuple[str, str]] = frozenset()

    def severity(self, refuses: Callable[[str], bool]) -> Severity | None:
        """An error if every release refuses; a warning if the likeliest does and another does not."""
        refused = [refuses(version) for version in self.versions]
        if not refused or not refused[0]:
            return None
        return Severity.ERROR if all(refused) else Severity.WARNING

    def taking(self, refuses: Callable[[str], bool]) -> str:
        """The releases that do not refuse, in words for the end of a message; empty if all or none do."""
        taken = [version for version in self.versions if not refuses(version)]
        if not taken or len(taken) == len(self.versions):
            return ""
        if taken == [*self.versions[-len(taken) :]]:
            return f"; only verl up to {taken[0]} accepts it"
        if taken == [*self.versions[: len(taken)]]:
            return f"; only verl {taken[-1]} and later accepts it"
        refused = [version for version in self.versions if refuses(version)]
        named = refused[0] if len(refused) == 1 else f"{refused[-1]} to {refused[0]}"
        return f"; verl {named} refuses it"


@record
class Plan:
    """The configuration of a run. Empty (false) if no target was given."""

    targets: tuple[str, ...] = ()
    dialect: str = "none"
    values: Mapping[str, Value] = field(default_factory=dict)
    own: Mapping[str, Value] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    skipped: tuple[str, ...] = ()
    """Why no key of a target is checked: its format has no schema."""
    unchecked: tuple[str, ...] = ()
    """Why keys of a target could not be checked: the schema of its program is not here."""
    schema: str = ""
    """The version whose keys the target was compared with, if that version is known for certain."""
    release: Release | None = None
    """The release of verl whose trainer runs; None if verl's own trainers do not, or their configuration is not here."""
    others: tuple["Plan", ...] = ()
    """The same run in the other iterations of its loop or tasks of its job array."""

    def __bool__(self) -> bool:
        return bool(self.targets)

    def is_of(self, *dialects: str) -> bool:
        """Whether one of the targets is written in one of these dialects."""
        return bool(set(self.dialect.split("+")) & set(dialects))

    def find(self, key: str) -> Value | None:
        """The value of a canonical key, or None if neither the user nor a default sets it.

        Raises CouldNotLook if it is written but unknown.
        """
        found = self.values.get(key)
        if found is not None and found.unknown:
            raise CouldNotLook(f"{found.assignment}: {found.unknown}")
        return None if found is None or found.value is None else found

    def name(self, key: str) -> str:
        """A canonical key as this dialect writes it; the key itself where the dialect has no such setting."""
        return self._name(key) or key

    def settings(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Canonical keys and new values as this dialect and its release write them, without those that it does not have."""
        from skyrl_doctor.plan.keys import value_in  # the tables of all dialects: only where a setting is named

        named = (
            (self._name(key), value_in(self.dialect, key, value))
            for key, value in settings.items()
            if not self._is_derived(key)
        )
        return {name: value for name, value in named if name is not None and self._has(name)}

    def _has(self, name: str) -> bool:
        """Whether the run's release has a key of the dialect, or takes it as a new one."""
        from skyrl_train.contracts.verl_keys import ADDED

        return self.release is None or name in ADDED or name in self.own

    def _is_derived(self, key: str) -> bool:
        """Whether the value was computed from a list or a table, such as a number of GPUs from their ids."""
        found = self.values.get(key)
        own = self.own.get(found.name) if found is not None else None
        return (
            own is not None
            and isinstance(own.value, list | dict)
            and not isinstance(found and found.value, list | dict)
        )

    def _name(self, key: str) -> str | None:
        found = self.values.get(key)
        if found is not None:
            return found.name
        from skyrl_doctor.plan.keys import key_in

        return key_in(self.dialect, key)

    def place(self, key: str) -> Location | None:
        """The location of a canonical key; for a default, the last target without a line."""
        found = self.values.get(key)
        if found is not None and found.location is not None:
            return found.location
        return Location(self.targets[-1], None, self.name(key)) if self.targets else None

    def text(self, key: str) -> str | None:
        return self._typed(key, str, "a string")

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
            raise CouldNotLook(f"{found.assignment}: expected a list of strings")
        return tuple(items)

    def _typed(self, key: str, kind: type[T], expected: str) -> T | None:
        found = self.find(key)
        if found is None:
            return None
        if not isinstance(found.value, kind) or (isinstance(found.value, bool) and kind is not bool):
            raise CouldNotLook(f"{found.assignment}: expected {expected}")
        return found.value
