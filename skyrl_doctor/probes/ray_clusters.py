"""Reads where Ray left its address, and lists its processes. Nothing is connected to."""

import os

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.ray_clusters import (
    DAEMONS,
    AddressFile,
    RayClusters,
    RayProcess,
    parse_pgrep,
    slurm_jobs,
)
from skyrl_doctor.machine.base import Absent, Machine, Unreadable, unless_absent
from skyrl_train.node.ray import address_file

PGREP = ("pgrep", "-l", "-x", "|".join(DAEMONS))
PGREP_LIMIT_S = 2.0
MOST_PROCESSES = 64
_NONE_FOUND = 1


@probe(limit_s=4.0)
def ray_clusters(machine: Machine, environ: Environ, host: Host) -> RayClusters:
    path = os.path.normpath(os.path.join(host.cwd, address_file(environ)))
    file, closed = _file(machine, path), _closed(machine, os.path.dirname(path))
    try:
        return RayClusters(file=file, processes=_processes(machine), closed=closed)
    except CouldNotLook as reason:
        return RayClusters(file=file, processes=None, hidden=str(reason), closed=closed)


def _closed(machine: Machine, directory: str) -> AddressFile | None:
    """The directory, where it is there and Ray could make no session in it."""
    found = unless_absent(lambda: machine.stat(directory))
    return None if found is None or machine.writable(directory) else AddressFile(directory, None, found.uid)


def _file(machine: Machine, path: str) -> AddressFile | None:
    try:
        address: str | None = machine.read(path, limit_bytes=4096).strip()
    except Absent:
        return None
    except Unreadable:
        address = None
    return AddressFile(path, address, _owner(machine, path))


def _owner(machine: Machine, path: str) -> int | None:
    try:
        return machine.stat(path).uid
    except (Absent, Unreadable):
        return None


def _processes(machine: Machine) -> tuple[RayProcess, ...]:
    listed = machine.run(PGREP, limit_s=PGREP_LIMIT_S)
    if listed.rc == _NONE_FOUND and not listed.out.strip():
        return ()
    if not listed.ok:
        raise CouldNotLook(listed.why)
    try:
        found = parse_pgrep(listed.out)
    except ValueError as error:
        raise CouldNotLook(f"{listed.command}: {error}") from None
    processes = (_process(machine, pid, name) for pid, name in found[:MOST_PROCESSES] if name in DAEMONS)
    return tuple(process for process in processes if process is not None)


def _process(machine: Machine, pid: int, name: str) -> RayProcess | None:
    """None where it ended meanwhile."""
    uid = _owner(machine, f"/proc/{pid}")
    if uid is None:
        return None
    try:
        groups = unless_absent(lambda: machine.read(f"/proc/{pid}/cgroup"))
    except Unreadable:
        groups = None
    return RayProcess(pid, name, uid, slurm_jobs(groups or ""))
