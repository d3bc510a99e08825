"""Reads the limits of this process's control groups, of both versions, from its own group up to the root."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.cgroup import (
    MOUNT,
    Cgroup,
    Level,
    Membership,
    directories,
    parse_count,
    parse_limit,
    parse_memberships,
)
from skyrl_doctor.facts.host import Host
from skyrl_doctor.machine.base import Absent, Machine

T = TypeVar("T")
OWN = "/proc/self/cgroup"
MEMORY_V1, MEMORY_V2 = ("memory.limit_in_bytes", "memory.usage_in_bytes"), ("memory.max", "memory.current")
TASKS = ("pids.max", "pids.current")


@probe(limit_s=3.0)
def cgroup(machine: Machine, host: Host) -> Cgroup:
    try:
        memberships = _parsed(parse_memberships, OWN, machine.read(OWN))
    except Absent:
        if host.system.startswith("Linux"):
            raise
        raise NotApplicable(f"{host.system} has no control groups") from None
    machine.stat(MOUNT)  # without it every limit below would read as none
    return Cgroup(
        memory=tuple(_levels(machine, memberships, "memory", {1: MEMORY_V1, 2: MEMORY_V2})),
        tasks=tuple(_levels(machine, memberships, "pids", {1: TASKS, 2: TASKS})),
    )


def _levels(
    machine: Machine, memberships: Iterable[Membership], controller: str, names: dict[int, tuple[str, str]]
) -> Iterator[Level]:
    for membership in memberships:
        version = 1 if membership.controllers else 2
        if version == 1 and controller not in membership.controllers:
            continue
        limit_name, used_name = names[version]
        for directory in directories(membership):
            limit = _read(machine, f"{directory}/{limit_name}", parse_limit)
            if limit is not None:
                yield Level(directory, limit, _read(machine, f"{directory}/{used_name}", parse_count))


def _read(machine: Machine, path: str, parse: Callable[[str], T]) -> T | None:
    """None where the group has no such file: the root has none, nor has a group without that controller."""
    try:
        return _parsed(parse, path, machine.read(path))
    except Absent:
        return None


def _parsed(parse: Callable[[str], T], path: str, text: str) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise CouldNotLook(f"{path}: {error}") from None
