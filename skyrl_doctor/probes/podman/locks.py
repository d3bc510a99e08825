"""Counts libpod's locks from the segment's bytes, and asks the kernel who holds the store's. None is taken."""

import threading
from collections.abc import Iterator

from skyrl_doctor.core.check import probe
from skyrl_doctor.facts.podman.locks import (
    DEFAULT_LOCKS,
    SHM,
    SHM_OF_ROOT,
    HeldLock,
    PodmanHeldLocks,
    PodmanLocks,
    parse_lock_table,
)
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.machine.base import Absent, Machine, Unreadable
from skyrl_doctor.probes.podman.processes import process

APART_S = 0.5
_SEGMENT_LIMIT_BYTES = 64 << 20


@probe(limit_s=2.0)
def podman_locks(machine: Machine, store: PodmanStore) -> PodmanLocks:
    store.require_readable()
    configured = store.engine.num_locks or DEFAULT_LOCKS
    database = store.database
    known = len(database.containers) + database.pod_locks if database.known else None
    if store.engine.lock_type == "file":
        return PodmanLocks(kind="file", path=f"{store.places.tmp_dir}/locks", configured=configured, known=known)
    path = SHM.format(uid=store.uid) if store.rootless else SHM_OF_ROOT
    try:
        table = parse_lock_table(machine.read_bytes(path, limit_bytes=_SEGMENT_LIMIT_BYTES))
    except Absent:
        table = None
    return PodmanLocks(kind="shm", path=path, configured=configured, table=table, known=known)


@probe(limit_s=5.0)
def podman_held_locks(machine: Machine, store: PodmanStore) -> PodmanHeldLocks:
    """Podman holds each lock for milliseconds: one that the same process holds half a second later stands in the way."""
    store.require_readable()
    first, unread = _holders(machine, lock_files(store))
    if not first:
        return PodmanHeldLocks(held=(), apart_s=0.0, unread=unread)
    threading.Event().wait(APART_S)
    second, _ = _holders(machine, tuple(first))
    held = tuple(_held(machine, path, pid) for path, pid in first.items() if second.get(path, 0) == pid)
    return PodmanHeldLocks(held=held, apart_s=APART_S, unread=unread)


def lock_files(store: PodmanStore) -> tuple[str, ...]:
    """Those without which podman stands still."""
    places = store.places
    driver = places.driver or "overlay"
    graph = places.graph_root
    return (
        f"{graph}/storage.lock",
        f"{graph}/{driver}-layers/layers.lock",
        f"{graph}/{driver}-images/images.lock",
        f"{graph}/{driver}-containers/containers.lock",
        f"{places.run_root}/{driver}-layers/mountpoints.lock",
        f"{places.tmp_dir}/alive.lck",
    )


def _holders(machine: Machine, paths: tuple[str, ...]) -> tuple[dict[str, int], tuple[str, ...]]:
    """The holder's pid by path; below 1 where the kernel gives none."""
    held: dict[str, int] = {}
    unread: list[str] = []
    for path in paths:
        try:
            pid = machine.lock_holder(path)
        except Absent:
            continue
        except Unreadable as error:
            unread.append(str(error))
            continue
        if pid is not None:
            held[path] = pid
    return held, tuple(unread)


def _held(machine: Machine, path: str, pid: int) -> HeldLock:
    found = process(machine, pid) if pid > 0 else None
    if found is None:
        return HeldLock(path=path, pid=pid if pid > 0 else None)
    return HeldLock(path=path, pid=pid, name=found.name, command=_command(machine, pid), state=found.state)


def _command(machine: Machine, pid: int) -> str:
    try:
        return " ".join(_words(machine.read(f"/proc/{pid}/cmdline", limit_bytes=300)))
    except (Absent, Unreadable):
        return ""


def _words(text: str) -> Iterator[str]:
    return (word for word in text.split("\0") if word)
