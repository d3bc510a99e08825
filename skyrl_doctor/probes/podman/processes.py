"""Looks up the processes that a store's pid files name, in /proc."""

import posixpath

from skyrl_doctor.core.check import probe
from skyrl_doctor.facts.podman.database import PAUSED, RUNNING
from skyrl_doctor.facts.podman.processes import (
    Monitored,
    PidFile,
    PodmanProcesses,
    Process,
    parse_pid,
    parse_status,
)
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.machine.base import Absent, Machine, Unreadable, unless_absent
from skyrl_doctor.probes.podman.paths import stat_or_none, text_or_none


@probe(limit_s=5.0)
def podman_processes(machine: Machine, store: PodmanStore) -> PodmanProcesses:
    store.require_readable()
    places, database = store.places, store.database
    alive = [container for container in database.containers if container.state in (RUNNING, PAUSED)]
    return PodmanProcesses(
        own_user_ns=machine.readlink("/proc/self/ns/user"),
        uid=store.uid,
        pause=_pid_file(machine, store.pause_file),
        fresh=stat_or_none(machine, posixpath.join(places.tmp_dir, "alive")) is None,
        running=tuple(
            Monitored(container=container, conmon=_pid_file(machine, container.conmon_pid_file)) for container in alive
        ),
        leftover=() if database.known else _leftover(machine, f"{places.run_root}/{places.driver}-containers"),
    )


def _leftover(machine: Machine, directory: str) -> tuple[PidFile, ...]:
    names = unless_absent(lambda: machine.listdir(directory)) or ()
    files = (_pid_file(machine, f"{directory}/{name}/userdata/conmon.pid") for name in names)
    return tuple(file for file in files if file is not None)


def _pid_file(machine: Machine, path: str) -> PidFile | None:
    text = text_or_none(machine, path, limit_bytes=64) if path else None
    if text is None:
        return None
    pid = parse_pid(text)
    return PidFile(path=path, text=text, pid=pid, process=process(machine, pid) if pid is not None else None)


def process(machine: Machine, pid: int) -> Process | None:
    """The process of that number; None where there is none, or none any more."""
    try:
        status = machine.read(f"/proc/{pid}/status")
        user_ns = _user_ns(machine, pid)
    except Absent:
        return None
    return parse_status(pid, status, user_ns)


def _user_ns(machine: Machine, pid: int) -> str | None:
    try:
        return machine.readlink(f"/proc/{pid}/ns/user")
    except Unreadable:  # a process of another user
        return None
