"""The result of reading a target, and helpers that turn leaves into values."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from skyrl_doctor.core.model import UNKNOWN_VALUE, Location
from skyrl_doctor.core.record import record
from skyrl_doctor.plan.model import Problem, Release, Value
from skyrl_doctor.plan.syntax.leaf import Leaf
from skyrl_doctor.plan.syntax.shell_values import NOT_BEFORE_IT_RUNS, ON_A_BRANCH


@record(kw_only=True)
class Reading:
    """One target: its canonical values, the same values under the dialect's names, and its problems.

    `part` names the part of a run that the file holds; it is empty for a file that is a run by itself.
    """

    dialect: str
    values: Mapping[str, Value] = field(default_factory=dict)
    own: Mapping[str, Value] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    skipped: str = ""
    """Why no key is checked, for a format without a schema."""
    unchecked: str = ""
    """Why the keys could not be checked: the schema of the program is not here."""
    part: str = ""
    schema: str = ""
    """The version whose keys the target was compared with, if that version is known for certain."""
    release: Release | None = None
    """The release of verl by which the values are judged."""
    others: tuple["Reading", ...] = ()
    """The same program in the other iterations of its loop or tasks of its job array."""

    @property
    def is_examined(self) -> bool:
        """Whether anything of it can be checked: a problem, a key of a schema, or a value that the doctor has a name for."""
        return (
            bool(self.problems)
            or not (self.skipped or self.unchecked)
            or any(value.written for value in self.values.values())
        )


def own_values(leaves: Iterable[Leaf], file: str) -> dict[str, Value]:
    """Each leaf by its dotted name, tables included."""
    return {
        leaf.key: Value(
            leaf.key,
            leaf.value,
            Location(file, leaf.line, leaf.key),
            own=leaf.key,
            unknown=leaf.unknown,
            span=leaf.span,
        )
        for leaf in leaves
    }


def unknown_values(values: Iterable[Value]) -> Iterator[Problem]:
    """A problem for each written value that is unknown. It is a note if the value shown is the likely one, or if the running
    script makes it, as a name with the date: checks that need it say that they could not look."""
    for value in values:
        if value.unknown and value.location is not None:
            assumed = ", which is taken to hold" if value.unknown.startswith(ON_A_BRANCH) else ""
            yield Problem(
                message=f"{value.name} = {value.value}: {value.unknown}{assumed}",
                location=value.location,
                fatal=False,
                is_note=bool(assumed) or value.unknown == NOT_BEFORE_IT_RUNS,
                remedy=UNKNOWN_VALUE,
            )


def renamed(own: Mapping[str, Value], names: Mapping[str, str]) -> Iterator[Value]:
    """Own values under their canonical names."""
    for own_name, canonical in names.items():
        found = own.get(own_name)
        if found is not None:
            yield with_key(found, canonical)


def with_key(value: Value, key: str) -> Value:
    """The same value with its location under another canonical key."""
    return Value(
        key,
        value.value,
        value.location,
        written=value.written,
        own=value.own,
        source=value.source,
        unknown=value.unknown,
        span=value.span,
    )


def default(key: str, value: object, *, own: str, source: str) -> Value:
    return Value(key, value, None, written=False, own=own, source=source)


def by_key(*groups: Iterable[Value]) -> dict[str, Value]:
    """Values by key; the first group that has a key wins."""
    found: dict[str, Value] = {}
    for group in groups:
        for value in group:
            found.setdefault(value.key, value)
    return found
