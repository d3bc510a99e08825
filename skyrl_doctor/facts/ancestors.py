"""The parent processes of the doctor, nearest first. A trainer that starts here has the same parents."""

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
    """`argv` is empty for a kernel thread and for a process that this user may not read."""

    pid: int
    argv: tuple[str, ...]


@record
class Ancestors:
    """The chain ends at the first process or at one that is hidden from this user, and so from Ray."""

    processes: tuple[Process, ...]


def parse_argv(cmdline: str) -> tuple[str, ...]:
    """The arguments in /proc/PID/cmdline, each ended by a zero byte. Long arguments and long lists are shortened."""
    if not cmdline:
        return ()
    arguments = cmdline.removesuffix("\0").split("\0")[:MOST_ARGUMENTS]
    return tuple(argument[:LONGEST_ARGUMENT] for argument in arguments)


@probe(limit_s=2.0)
def ancestors(machine: Machine, host: Host) -> Ancestors:
    """Reads each parent process, from the doctor's own up to process 1."""
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
            parent = adopted_by  # it has just ended, and its child has a new parent
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
        return ()  # Ray treats it in the same way: it sees no `uv run`
