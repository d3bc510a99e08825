"""The processes that started the doctor, nearest first: a trainer that starts here has the same ones."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.host import Host
from skyrl_doctor.machine.base import Absent, Machine, Unreadable
from skyrl_train.contracts.proc_stat import parse_stat

MOST_ARGUMENTS = 64
LONGEST_ARGUMENT = 200
MOST_ANCESTORS = 64
LIMIT_BYTES = 16 << 10


@record
class Process:
    """A command line is empty for a thread of the kernel, and for a process that nobody may look at."""

    pid: int
    argv: tuple[str, ...]


@record
class Ancestors:
    """Up to the first process, or to the first one that this user is not shown: Ray sees no further either."""

    processes: tuple[Process, ...]


def parse_argv(cmdline: str) -> tuple[str, ...]:
    """/proc/PID/cmdline: arguments that each end with a zero byte, shortened to what a person reads."""
    if not cmdline:
        return ()
    arguments = cmdline.removesuffix("\0").split("\0")[:MOST_ARGUMENTS]
    return tuple(argument[:LONGEST_ARGUMENT] for argument in arguments)


@probe(limit_s=2.0)
def ancestors(machine: Machine, host: Host) -> Ancestors:
    """Walks from the doctor's own process up to the first one."""
    found: list[Process] = []
    child = host.pid
    parent = _own_parent(machine, host)
    for _ in range(MOST_ANCESTORS):
        if parent == 0:
            return Ancestors(tuple(found))
        try:
            grandparent, argv = _parent(machine, parent), _argv(machine, parent)
        except Absent:
            adopted_by = _parent_or_none(machine, child)
            if adopted_by is None or adopted_by == parent:
                return Ancestors(tuple(found))  # hidden from this user (hidepid), and so from Ray
            parent = adopted_by  # it ended just now, and somebody else took its child
            continue
        found.append(Process(parent, argv))
        child, parent = parent, grandparent
    raise CouldNotLook(f"process {host.pid} has more than {MOST_ANCESTORS} ancestors")


def _own_parent(machine: Machine, host: Host) -> int:
    try:
        return _parent(machine, host.pid)
    except Absent:
        if host.system.startswith("Linux"):
            raise
        raise NotApplicable(f"{host.system} has no /proc") from None


def _parent_or_none(machine: Machine, pid: int) -> int | None:
    try:
        return _parent(machine, pid)
    except Absent:
        return None


def _parent(machine: Machine, pid: int) -> int:
    path = f"/proc/{pid}/stat"
    try:
        return parse_stat(machine.read(path, limit_bytes=LIMIT_BYTES)).parent
    except ValueError as error:
        raise CouldNotLook(f"{path}: {error}") from None


def _argv(machine: Machine, pid: int) -> tuple[str, ...]:
    try:
        return parse_argv(machine.read(f"/proc/{pid}/cmdline", limit_bytes=LIMIT_BYTES))
    except Unreadable:
        return ()  # as Ray takes it: no `uv run` that it could see
