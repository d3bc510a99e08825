"""The control groups that this process is in, and the limits on the way up: a job's, a step's, a container's."""

from skyrl_doctor.core.record import record

MOUNT = "/sys/fs/cgroup"
UNLIMITED = 1 << 62
"""What version 1 writes for memory without limit is just above this."""


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
