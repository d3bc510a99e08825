"""Walks from the doctor's own process up to the first one."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.ancestors import Ancestors, Process, parse_argv, parse_parent
from skyrl_doctor.facts.host import Host
from skyrl_doctor.machine.base import Absent, Machine, Unreadable

MOST_ANCESTORS = 64
LIMIT_BYTES = 16 << 10


@probe(limit_s=2.0)
def ancestors(machine: Machine, host: Host) -> Ancestors:
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
        return parse_parent(machine.read(path, limit_bytes=LIMIT_BYTES))
    except ValueError as error:
        raise CouldNotLook(f"{path}: {error}") from None


def _argv(machine: Machine, pid: int) -> tuple[str, ...]:
    try:
        return parse_argv(machine.read(f"/proc/{pid}/cmdline", limit_bytes=LIMIT_BYTES))
    except Unreadable:
        return ()  # as Ray takes it: no `uv run` that it could see
