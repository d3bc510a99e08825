"""Podman's locks: libpod's fixed number in /dev/shm (or one file each), and the file locks of the store."""

import struct
import threading
from collections.abc import Iterator

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.podman.processes import process
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.machine.base import Absent, Machine, Unreadable

ROOTLESS_SEGMENT = "/dev/shm/libpod_rootless_lock_{uid}"  # noqa: S108 -- Podman's own name for it
ROOT_SEGMENT = "/dev/shm/libpod_lock"  # noqa: S108 -- as above
DEFAULT_LOCKS = 2048
PER_GROUP = 32

_MAGIC = 0x87D1
_MUTEX_SIZES = (40, 48, 24, 32)
"""Sizes of glibc's pthread_mutex_t: x86-64, aarch64, 32 bits, others."""
APART_S = 0.5
_SEGMENT_LIMIT_BYTES = 64 << 20


@record(kw_only=True)
class LockTable:
    """A segment of locks. `unusable` is why Podman cannot open it; `unknown` is why it could not be counted."""

    total: int = 0
    used: int = 0
    unusable: str = ""
    unknown: str = ""


@record(kw_only=True)
class PodmanLocks:
    """libpod's locks. `kind` is shm or file. `table` is None if no segment exists. `known` counts the locks in the database."""

    kind: str
    path: str
    configured: int
    table: LockTable | None = None
    known: int | None = None

    @property
    def expected(self) -> int:
        """The configured number, rounded up to whole groups as Podman does."""
        return -(-self.configured // PER_GROUP) * PER_GROUP


@record(kw_only=True)
class HeldLock:
    """A lock of the store that the same process held twice. `pid` is None if the kernel names no visible process."""

    path: str
    pid: int | None
    name: str = ""
    command: str = ""
    state: str = ""

    @property
    def holder(self) -> str:
        if self.pid is None:
            return "a process that the kernel does not name here (another node, another container, or a lock of an open file)"
        return f"pid {self.pid} ({self.command or self.name or 'command unknown'})"


@record(kw_only=True)
class PodmanHeldLocks:
    """`apart_s` is the time between the two reads. `unread` lists the locks that could not be read."""

    held: tuple[HeldLock, ...]
    apart_s: float
    unread: tuple[str, ...] = ()


def parse_lock_table(data: bytes) -> LockTable:
    """libpod/lock/shm/shm_lock.h: a header with a mutex, then groups of a 32-bit map and 32 mutexes.

    The size of a mutex depends on the machine. The size that fits all other numbers is used.
    """
    if len(data) < 2:
        return LockTable(unusable=f"it has {len(data)} bytes")
    (magic,) = struct.unpack_from("=H", data)
    if magic != _MAGIC:
        return LockTable(unusable=f"it begins with {magic:#06x}, not {_MAGIC:#06x}")
    for mutex in _MUTEX_SIZES:
        align = 8 if mutex >= 40 else 4
        counts = align + mutex
        first = _round_up(counts + 8, align)
        group = _round_up(4, align) + PER_GROUP * mutex
        if len(data) < first:
            continue
        groups, total = struct.unpack_from("=II", data, counts)
        if groups and total == groups * PER_GROUP and len(data) == first + groups * group:
            maps = (struct.unpack_from("=I", data, first + index * group)[0] for index in range(groups))
            return LockTable(total=total, used=sum(found.bit_count() for found in maps))
    return LockTable(unknown=f"its layout is unknown ({len(data)} bytes)")


def _round_up(size: int, align: int) -> int:
    return -(-size // align) * align


@probe(limit_s=2.0)
def podman_locks(machine: Machine, store: PodmanStore) -> PodmanLocks:
    """Counts libpod's locks from the bytes of the segment. Takes no lock."""
    store.require_readable()
    configured = store.engine.num_locks or DEFAULT_LOCKS
    database = store.database
    known = len(database.containers) + database.pod_locks if database.known else None
    if store.engine.lock_type == "file":
        return PodmanLocks(kind="file", path=f"{store.places.tmp_dir}/locks", configured=configured, known=known)
    path = ROOTLESS_SEGMENT.format(uid=store.uid) if store.rootless else ROOT_SEGMENT
    try:
        table = parse_lock_table(machine.read_bytes(path, limit_bytes=_SEGMENT_LIMIT_BYTES))
    except Absent:
        table = None
    return PodmanLocks(kind="shm", path=path, configured=configured, table=table, known=known)


@probe(limit_s=5.0)
def podman_held_locks(machine: Machine, store: PodmanStore) -> PodmanHeldLocks:
    """Reads the holders twice. Podman holds a lock for milliseconds, so one that is held half a second later is stuck."""
    store.require_readable()
    first, unread = _holders(machine, lock_files(store))
    if not first:
        return PodmanHeldLocks(held=(), apart_s=0.0, unread=unread)
    threading.Event().wait(APART_S)
    second, _ = _holders(machine, tuple(first))
    held = tuple(_held_lock(machine, path, pid) for path, pid in first.items() if second.get(path, 0) == pid)
    return PodmanHeldLocks(held=held, apart_s=APART_S, unread=unread)


def lock_files(store: PodmanStore) -> tuple[str, ...]:
    """The lock files that every podman command needs."""
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
    """The pid of each lock's holder; below 1 if the kernel names none."""
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


def _held_lock(machine: Machine, path: str, pid: int) -> HeldLock:
    found = process(machine, pid) if pid > 0 else None
    if found is None:
        return HeldLock(path=path, pid=pid if pid > 0 else None)
    return HeldLock(path=path, pid=pid, name=found.name, command=_command(machine, pid), state=found.state)


def _command(machine: Machine, pid: int) -> str:
    try:
        return " ".join(_arguments(machine.read(f"/proc/{pid}/cmdline", limit_bytes=300)))
    except (Absent, Unreadable):
        return ""


def _arguments(text: str) -> Iterator[str]:
    return (word for word in text.split("\0") if word)
