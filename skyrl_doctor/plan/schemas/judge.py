"""Compares the keys of a configuration with the schema of its program."""

import dataclasses
from collections.abc import Iterable, Iterator

from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.model import Problem, Value
from skyrl_doctor.plan.schemas.packages import Package
from skyrl_doctor.plan.schemas.versions import Version, told_by_history
from skyrl_doctor.plan.similar import is_slip


def key_problems(package: Package, program: str, version: Version, written: Iterable[Value]) -> Iterator[Problem]:
    """A problem for each key that the program lacks and each value of another type. An error only of a known version."""
    schema = version.schemas[program]
    unknown: list[str] = []
    for value in written:
        key = value.own or value.key
        if value.location is None or any(key.startswith((f"{one}.", f"{one}[")) for one in unknown):
            continue  # its table is a problem already
        if schema.type_of(key) is None:
            unknown.append(key)
            yield _unknown(package, program, version, value, schema.closest(key))
        elif not value.unknown and (expected := schema.why_wrong(key, value.value)) is not None:
            yield Problem(
                message=f"{value.assignment}: {expected}, by {version.label}",
                location=value.location,
                fatal=version.is_known,
            )


def _unknown(package: Package, program: str, version: Version, value: Value, closest: str | None) -> Problem:
    key = value.own or value.key
    told = told_by_history(package, program, key)
    hint = f"; did you mean `{closest}`?" if closest and not told else ""
    history = f"; {package.name} {told}" if told else ""
    location = value.location or Location("", None, key)
    fits = version.schemas[program].why_wrong(closest, value.value) is None if closest else False
    return Problem(
        message=f"`{program}` of {version.label} has no key `{key}`{history}{hint}",
        location=dataclasses.replace(location, key=key),
        moves={key: closest} if hint and closest and fits and is_slip(key, closest) else {},
        fatal=version.is_known,
    )
