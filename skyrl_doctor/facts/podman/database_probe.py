"""Reads the store's database without opening it as one: byte ranges for bbolt, the whole file for SQLite.

A file of its own: `database` holds the records that the readers of both formats (`bolt`, `sqlite`) fill, and this calls
those readers. The store's probe calls it with paths, because the store's record holds a Database.
"""

from skyrl_doctor.facts.podman.database import Database, read_bolt
from skyrl_doctor.facts.podman.settings import EngineConf
from skyrl_doctor.facts.podman.sqlite import COUNTER_AT, COUNTER_SIZE, change_counter, read_sqlite
from skyrl_doctor.machine.base import Machine, Unreadable
from skyrl_doctor.machine.paths import stat_or_none

_LARGEST_BYTES = 64 << 20
_LOOKS = 3


def read_database(
    machine: Machine, *, graph_root: str, static_dir: str, engine: EngineConf, major: int | None
) -> Database:
    """bolt_state.db where it is there and this Podman still reads it, else db.sql, else none yet."""
    bolt = f"{static_dir}/bolt_state.db"
    sqlite = f"{engine.static_dir or graph_root}/db.sql"
    reads_bolt = engine.database_backend != "sqlite" and (major is None or major < 6)
    for path in (bolt, sqlite) if reads_bolt else (sqlite,):
        found = _look_again(machine, path)
        if found is not None:
            return found
    return Database()


def _look_again(machine: Machine, path: str) -> Database | None:
    """What a running podman changed while it was read is read again. A fault is one that both looks saw."""
    last = _look(machine, path)
    for _ in range(_LOOKS - 1):
        if last is None or last.known:
            return last
        again = _look(machine, path)
        if again == last:
            return again
        last = again
    return last


def _look(machine: Machine, path: str) -> Database | None:
    try:
        found = stat_or_none(machine, path)
        if found is None:
            return None
        if found.size > _LARGEST_BYTES:
            return Database(path=path, unread=f"{path} has {found.size} bytes; the doctor reads {_LARGEST_BYTES}")
        if path.endswith(".db"):
            return read_bolt(path, lambda at, size: machine.read_bytes(path, limit_bytes=size, offset=at), found.size)
        return _sqlite(machine, path)
    except Unreadable as error:
        return Database(path=path, unread=str(error))


def _sqlite(machine: Machine, path: str) -> Database:
    """A journal beside the file says that a transaction is being written into it, or was when its writer died."""
    journal = stat_or_none(machine, f"{path}-journal")
    data = machine.read_bytes(path, limit_bytes=_LARGEST_BYTES)
    if journal is not None and journal.size > 0:
        return Database(path=path, unread=f"{path} is being written: {path}-journal lies beside it")
    if machine.read_bytes(path, limit_bytes=COUNTER_SIZE, offset=COUNTER_AT) != change_counter(data):
        return Database(path=path, unread=f"{path}: it changed while it was read")
    log = stat_or_none(machine, f"{path}-wal")
    if log is not None and log.size > 0:
        return Database(path=path, unread=f"{path}: its newest state is in {path}-wal")
    return read_sqlite(path, data)
