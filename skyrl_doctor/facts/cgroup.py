"""The control groups that this process is in, and the limits on the way up: a job's, a step's, a container's."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.host import Host
from skyrl_doctor.machine.base import Absent, Machine

MOUNT = "/sys/fs/cgroup"
UNLIMITED = 1 << 62
"""What version 1 writes for memory without limit is just above this."""
T = TypeVar("T")
OWN = "/proc/self/cgroup"
MEMORY_V1, MEMORY_V2 = ("memory.limit_in_bytes", "memory.usage_in_bytes"), ("memory.max", "memory.current")
TASKS = ("pids.max", "pids.current")


@record
class Level:
    """One group with a limit. `used` is None where the group does not tell."""

    path: str
    limit: int
    used: int | None = None

    @property
    def free(self) -> int:
        return self.limit - (self.used or 0)


@record(kw_only=True)
class Cgroup:
    """Every level that limits memory (in bytes) or tasks, from the innermost outwards."""

    memory: tuple[Level, ...] = ()
    tasks: tuple[Level, ...] = ()

    @property
    def least_memory(self) -> Level | None:
        return min(self.memory, key=lambda level: level.limit, default=None)

    @property
    def least_tasks(self) -> Level | None:
        """The level with the fewest tasks to spare."""
        return min(self.tasks, key=lambda level: level.free, default=None)


@record
class Membership:
    """A line of /proc/self/cgroup; version 2 names no controllers."""

    controllers: tuple[str, ...]
    path: str


def parse_memberships(text: str) -> tuple[Membership, ...]:
    """cgroups(7): `4:memory:/slurm/uid_1000/job_4711` or `0::/system.slice/slurmstepd.scope/job_4711`.

    Raises ValueError, for an empty text too.
    """
    memberships = []
    for line in text.splitlines():
        number, first, rest = line.partition(":")
        controllers, second, path = rest.partition(":")
        if not (first and second and number.isascii() and number.isdecimal() and path.startswith("/")):
            raise ValueError(f"no line of a cgroup file: {line[:80]!r}")
        memberships.append(Membership(tuple(filter(None, controllers.split(","))), path.removesuffix(" (deleted)")))
    if not memberships:
        raise ValueError("it is empty")
    return tuple(memberships)


def directories(membership: Membership) -> tuple[str, ...]:
    """The group's directory and those above it, up to the mount's own. A group outside of this view (`/..`) has the last alone."""
    root = "/".join((MOUNT, ",".join(membership.controllers))).rstrip("/")
    parts = [part for part in membership.path.split("/") if part]
    if ".." in parts:
        return (root,)
    return tuple("/".join((root, *parts[:depth])) for depth in range(len(parts), -1, -1))


def parse_limit(text: str) -> int | None:
    """memory.max, pids.max and their like: a number, `max`, or -1; None is without limit. Raises ValueError."""
    value = text.strip()
    if value in ("max", "-1"):
        return None
    number = parse_count(value)
    return None if number >= UNLIMITED else number


def parse_count(text: str) -> int:
    value = text.strip()
    if not (value.isascii() and value.isdecimal() and len(value) <= 20):
        raise ValueError(f"{value[:40]!r} where a number was wanted")
    return int(value)


@probe(limit_s=3.0)
def cgroup(machine: Machine, host: Host) -> Cgroup:
    """Reads the limits of this process's control groups, of both versions, from its own group up to the root."""
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
