"""Compares the keys of a configuration with the schema of its program."""

import dataclasses
from collections.abc import Iterable, Iterator

from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.model import Problem, Value
from skyrl_doctor.plan.schemas.dated import history
from skyrl_doctor.plan.schemas.packages import Package
from skyrl_doctor.plan.schemas.schema import normal
from skyrl_doctor.plan.schemas.versions import Version
from skyrl_doctor.plan.similar import is_slip, says_the_same

DID_YOU_MEAN = "; did you mean "


def key_problems(package: Package, program: str, version: Version, written: Iterable[Value]) -> Iterator[Problem]:
    """A problem for each key that the program lacks and each value of another type.

    An error if the version is known, or if no version takes it and the key is a misspelt one.
    """
    schema = version.schemas[program]
    unknown: list[str] = []
    for value in written:
        key = value.own or value.key
        if value.location is None or any(key.startswith((f"{one}.", f"{one}[")) for one in unknown):
            continue  # its table is a problem already
        if schema.type_of(key) is None:
            unknown.append(key)
            yield _unknown(package, program, version, value, schema.closest(key))
        elif not value.unknown and (wrong := schema.why_wrong(key, value.value)) is not None:
            yield _wrong(package, program, version, value, wrong.removeprefix("expected "))


def _wrong(package: Package, program: str, version: Version, value: Value, expected: str) -> Problem:
    """A value of another type. SkyRL compares no type at its start."""
    stored = history(package.table)
    everywhere = package.compares_types and stored.refuses(program, value.own or value.key, value.value)
    ending = (
        f"; {package.title} refuses to start" if everywhere else f", which {package.title} ({version.when}) expects"
    )
    meant = version.schemas[program].closest_word(value.own or value.key, value.value)
    return Problem(
        message=f"{value.assignment} is not {expected}{ending}{f'{DID_YOU_MEAN}{meant}?' if meant else ''}",
        location=value.location or Location("", None, value.own),
        fatal=version.is_known or everywhere,
        remedy=f"set {value.name} to {meant}, if you mean that" if meant else "",
    )


def _unknown(package: Package, program: str, version: Version, value: Value, closest: str | None) -> Problem:
    key = value.own or value.key
    stored = history(package.table)
    told = stored.told(program, normal(key))
    hint = f"{DID_YOU_MEAN}`{closest}`?" if closest and not told else ""
    ended = f"; {package.title} {told}" if told else ""
    location = value.location or Location("", None, key)
    fits = version.schemas[program].why_wrong(closest, value.value) is None if closest else False
    is_misspelt = closest is not None and (is_slip(normal(key), closest) or says_the_same(normal(key), closest))
    everywhere = not version.is_known and is_misspelt and stored.lacks(program, key)
    who = f"no version of {package.title}" if everywhere else f"{package.title}'s `{program}` ({version.when})"
    return Problem(
        message=f"{who} has {'the' if everywhere else 'no'} key `{key}`{ended}{hint}",
        location=dataclasses.replace(location, key=key),
        moves={key: closest} if hint and closest and fits and is_slip(key, closest) else {},
        fatal=version.is_known or everywhere,
    )
