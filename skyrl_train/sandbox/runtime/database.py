"""The book of all sessions, in memory and in SQLite: an entry is on disk before what it announces is done.

So a server that was killed at any moment leaves a book that says at most one step too much, and the next one looks
whether that step was done. `synchronous=NORMAL` with a write-ahead log survives the death of the process.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator

from skyrl_train.contracts.errors import TrainError
from skyrl_train.sandbox.runtime.record import Record

_SCHEMA = """
CREATE TABLE IF NOT EXISTS session(runtime_id TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS setting(name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_BUSY_S = 5.0


class DatabaseError(TrainError):
    """An entry could not be written; nothing was done that it would have announced."""


class Database:
    """Sessions by runtime id, and the latest one of each session id."""

    def __init__(self, path: str, *, keep_ended: int = 2000) -> None:
        self._keep = keep_ended
        self._disk = _opened(path)
        self._records: dict[str, Record] = {}
        self._latest: dict[str, str] = {}
        self._unwritten: set[str] = set()
        for record in sorted(_read(self._disk), key=lambda record: record.created):
            self._remember(record)

    def setting(self, name: str) -> str | None:
        found = self._disk.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def set(self, name: str, value: str) -> None:
        self._run("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, value))

    def announce(self, record: Record) -> Record:
        """Before something is done: without the entry it must not be. Raises DatabaseError."""
        self._run("INSERT OR REPLACE INTO session VALUES (?, ?)", (record.runtime_id, record.to_json()))
        self._unwritten.discard(record.runtime_id)
        self._remember(record)
        return record

    def note(self, record: Record) -> Record:
        """After something happened: it is true, whether the disk takes it or not."""
        self._remember(record)
        try:
            self.announce(record)
        except DatabaseError:
            self._unwritten.add(record.runtime_id)
        return record

    def write_again(self) -> int:
        """What the disk did not take so far; how many are still left."""
        for runtime_id in tuple(self._unwritten):
            with contextlib.suppress(DatabaseError):
                self.announce(self._records[runtime_id])
        return len(self._unwritten)

    def get(self, runtime_id: str) -> Record | None:
        return self._records.get(runtime_id)

    def of_session(self, session_id: str) -> Record | None:
        return self._records.get(self._latest.get(session_id, ""))

    def all(self) -> tuple[Record, ...]:
        return tuple(self._records.values())

    def live(self) -> tuple[Record, ...]:
        return tuple(record for record in self._records.values() if record.live)

    def forget_old(self) -> None:
        """Those that ended first go first; what is still to be removed stays."""
        ended = [record for record in self._records.values() if not record.live and not record.removal]
        for record in ended[: max(0, len(ended) - self._keep)]:
            with contextlib.suppress(DatabaseError):
                self._run("DELETE FROM session WHERE runtime_id = ?", (record.runtime_id,))
                del self._records[record.runtime_id]
                if record.session_id and self._latest.get(record.session_id) == record.runtime_id:
                    del self._latest[record.session_id]

    def close(self) -> None:
        self.write_again()
        self._disk.close()

    def _remember(self, record: Record) -> None:
        self._records[record.runtime_id] = record
        if record.session_id is None:
            return
        known = self._records.get(self._latest.get(record.session_id, ""))
        if known is None or record.created >= known.created:
            self._latest[record.session_id] = record.runtime_id

    def _run(self, statement: str, values: tuple[str, ...]) -> None:
        try:
            with self._disk:
                self._disk.execute(statement, values)
        except sqlite3.Error as error:
            raise DatabaseError(f"the state of the sessions cannot be written: {error}") from error


def _opened(path: str) -> sqlite3.Connection:
    """A damaged book is put aside, and a new one begun: its containers bear a label, and are found by that."""
    try:
        return _connected(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise DatabaseError(f"{path}: {error}; wanted a place that this job may write to") from error
        for name in (path, f"{path}-wal", f"{path}-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.replace(name, f"{name}.damaged")
        return _connected(path)


def _connected(path: str) -> sqlite3.Connection:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600))
    disk = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    try:
        disk.execute("PRAGMA journal_mode=WAL")
        disk.execute("PRAGMA synchronous=NORMAL")
        disk.executescript(_SCHEMA)
        disk.execute("SELECT count(*) FROM session").fetchone()
    except sqlite3.Error:
        disk.close()
        raise
    return disk


def _read(disk: sqlite3.Connection) -> Iterator[Record]:
    """An entry that another version wrote is left out: its container is then one that nobody asked for."""
    for (body,) in disk.execute("SELECT body FROM session").fetchall():
        with contextlib.suppress(KeyError, TypeError, ValueError):
            yield Record.from_json(body)
