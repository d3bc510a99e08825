"""Reads targets into one Plan, through the machine seam."""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.model import Plan, Value

LIMIT_BYTES = 4 << 20


def load(machine: Machine, targets: Sequence[str]) -> Plan:
    """The plan of all targets together; a later one overrides. An unreadable one is a usage error."""
    values: dict[str, Value] = {}
    for target in targets:
        values.update((value.key, value) for value in _read(machine, target))
    return Plan(tuple(targets), "run-config" if targets else "none", values)


def _read(machine: Machine, target: str) -> Iterator[Value]:
    try:
        data = machine.read_bytes(target, limit_bytes=LIMIT_BYTES + 1)
    except CouldNotLook as error:
        raise UsageError(f"target {error}") from None
    if len(data) > LIMIT_BYTES:
        raise UsageError(f"target {target}: larger than {LIMIT_BYTES >> 20} MiB; this is no configuration")
    if os.path.splitext(target)[1] != ".toml":
        raise UsageError(f"target {target}: wanted a .toml configuration")
    try:
        text = data.decode("utf-8-sig")
        table = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"target {target}: not valid TOML: {error}") from None
    lines = _lines(text)
    for key, value in _flat(table):
        yield Value(key, value, Location(target, lines.get(key), key))


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict) and prefix + name != "env":
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _lines(text: str) -> dict[str, int]:
    """Dotted key -> line, for tables and plain keys."""
    found: dict[str, int] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("["):
            section = bare.strip("[] ").partition("]")[0] + "."
        elif "=" in bare and not bare.startswith("#"):
            found.setdefault(section + bare.partition("=")[0].strip().strip('"'), number)
    return found
