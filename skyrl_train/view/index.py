"""An index of all rollouts of a job in SQLite: summaries and places. The texts stay in the files of transcripts.

The index lies in the user's cache and goes on where it stopped, so that a running job is followed and a second look at a
large job starts at once. It can be removed at any time.
"""

import contextlib
import fcntl
import hashlib
import os
import sqlite3
import tempfile
import threading
from collections.abc import Iterator, Sequence

from skyrl_train.contracts import bounded
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.rollout_summaries import Place, Summary, directory_of, files_in, read, step_of

VERSION = 1
BATCH = 500
"""Rollouts of one transaction. A reader sees them after it."""
MOST_ROLLOUTS = 2_000_000
MOST_INDEXES = 20
"""Indexes in the cache; the oldest are removed."""
HEAD = 256
"""Bytes by which a file is known. A file that was replaced is read again."""
_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
CREATE TABLE IF NOT EXISTS file(id INTEGER PRIMARY KEY, path TEXT UNIQUE, step INTEGER, head BLOB, read_to INTEGER, broken INTEGER);
CREATE TABLE IF NOT EXISTS rollout(
  id INTEGER PRIMARY KEY, file INTEGER, start INTEGER, length INTEGER, step INTEGER, rollout TEXT, task TEXT, finish TEXT,
  detail TEXT, reward REAL, why TEXT, masked INTEGER, turns INTEGER, prompt INTEGER, written INTEGER, read INTEGER,
  call_errors INTEGER, reply_s REAL, command_s REAL, duration_s REAL, tools TEXT);
CREATE INDEX IF NOT EXISTS by_step ON rollout(step, task);
CREATE INDEX IF NOT EXISTS by_name ON rollout(rollout);
"""


def cache_directory() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "skyrl-train", "view")


class Index:
    """The index of one directory of transcripts. `update` may run in another thread than the readers."""

    def __init__(self, source: str, cache: str | None) -> None:
        """An index in the cache; without one, in a directory of its own that `close` removes."""
        self.source = os.path.abspath(source)
        self._own: tempfile.TemporaryDirectory[str] | None = None
        try:
            self.path, self._lock = self._place(cache) if cache is not None else (self._own_path(), -1)
            self._writer = _open(self.path)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(
                f"cannot write the index in {cache or tempfile.gettempdir()}: {error}; set XDG_CACHE_HOME"
            ) from None
        self._local = threading.local()
        self.trouble = ""
        """Why the last update could not read something."""

    def _place(self, cache: str) -> tuple[str, int]:
        """The path of the index and its lock. A second reader of the same directory goes on with a copy of its own."""
        name = hashlib.sha256(f"{VERSION}:{os.path.realpath(self.source)}".encode()).hexdigest()[:24]
        os.makedirs(cache, mode=0o700, exist_ok=True)
        path = os.path.join(cache, f"{name}.sqlite")
        lock = _open_lock(path)
        if not _take(lock):
            own = self._own_path()
            _copy(path, own)
            return own, lock
        _remove_oldest(cache, keep=f"{name}.sqlite")
        return path, lock

    def _own_path(self) -> str:
        self._own = tempfile.TemporaryDirectory(prefix="skyrl-view-")
        return os.path.join(self._own.name, "index.sqlite")

    def update(self) -> Iterator[int]:
        """Reads what is new and yields the number of new rollouts after each batch."""
        self.trouble = ""
        try:
            paths = files_in(directory_of(self.source))
        except OSError as error:
            self.trouble = f"{self.source}: {error.strerror}"
            return
        self._forget_others(paths)
        for path in paths:
            try:
                yield from self._update_file(path)
            except OSError as error:
                self.trouble = f"{path}: {error.strerror}"

    def rows(self, query: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        """The answer of a query, from a connection of this thread."""
        reader: sqlite3.Connection | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = self._local.reader = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=10)
            reader.row_factory = sqlite3.Row
        return reader.execute(query, tuple(values)).fetchall()

    def forget_thread(self) -> None:
        """Closes the connection of this thread."""
        reader: sqlite3.Connection | None = getattr(self._local, "reader", None)
        if reader is not None:
            reader.close()
            self._local.reader = None

    def close(self) -> None:
        self.forget_thread()
        self._writer.close()
        lock, self._lock = self._lock, -1
        if lock >= 0:
            os.close(lock)
        if self._own is not None:
            self._own.cleanup()

    def _update_file(self, path: str) -> Iterator[int]:
        size, head = _identity(path)
        known = self._writer.execute("SELECT id, head, read_to FROM file WHERE path = ?", (path,)).fetchone()
        if known is not None and (known[2] > size or head[: len(known[1])] != known[1]):
            self._forget(known[0])
            known = None
        if known is None:
            made = self._writer.execute(
                "INSERT INTO file(path, step, head, read_to, broken) VALUES (?, ?, ?, 0, 0)",
                (path, step_of(path), head),
            )
            known = (made.lastrowid, head, 0)
        if known[2] >= size:
            self._writer.commit()
            return
        waiting: list[tuple[Place, Summary | None]] = []
        for one in read(path, known[2]):
            waiting.append(one)
            if len(waiting) >= BATCH:
                yield self._add(known[0], path, head, waiting)
                waiting = []
        yield self._add(known[0], path, head, waiting)

    def _add(self, file: int, path: str, head: bytes, found: list[tuple[Place, Summary | None]]) -> int:
        rows = [_row(file, step_of(path), place, summary) for place, summary in found if summary is not None]
        (total,) = self._writer.execute("SELECT count(*) FROM rollout").fetchone()
        if total + len(rows) > MOST_ROLLOUTS:
            self.trouble = f"more than {MOST_ROLLOUTS} rollouts; the rest is left out"
            return 0
        places = ", ".join("?" * 20)
        self._writer.executemany(f"INSERT INTO rollout VALUES (NULL, {places})", rows)
        if found:
            end = found[-1][0].offset + found[-1][0].length
            self._writer.execute(
                "UPDATE file SET read_to = ?, head = ?, broken = broken + ? WHERE id = ?",
                (end, head, len(found) - len(rows), file),
            )
        self._writer.commit()
        return len(rows)

    def _forget_others(self, paths: Sequence[str]) -> None:
        """Forgets the files that are gone."""
        kept = set(paths)
        for file, path in self._writer.execute("SELECT id, path FROM file").fetchall():
            if path not in kept:
                self._forget(file)
        self._writer.commit()

    def _forget(self, file: int) -> None:
        self._writer.execute("DELETE FROM rollout WHERE file = ?", (file,))
        self._writer.execute("DELETE FROM file WHERE id = ?", (file,))


def _row(file: int, step: int | None, place: Place, one: Summary) -> tuple[object, ...]:
    tools = f",{','.join(one.tools)}," if one.tools else ""
    return (
        file, place.offset, place.length, step, _text(one.rollout), _text(one.task), _text(one.finish), _text(one.detail),
        one.reward, _text(one.why), one.masked, one.turns, one.prompt, one.written, one.read, one.call_errors,
        one.reply_s, one.command_s, one.duration_s, _text(tools),
    )  # fmt: skip


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _identity(path: str) -> tuple[int, bytes]:
    with bounded.open_file(path) as file:
        return os.fstat(file.fileno()).st_size, file.read(HEAD)


def _open(path: str) -> sqlite3.Connection:
    """Opens the index; one that is damaged is made anew."""
    for attempt in (1, 2):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))  # SQLite keeps the mode
        made = sqlite3.connect(path, timeout=10, check_same_thread=False)
        try:
            made.executescript(_SCHEMA)
        except sqlite3.DatabaseError:
            made.close()
            if attempt == 2:
                raise
            _remove(path)
        else:
            return made
    raise AssertionError


def _copy(path: str, to: str) -> None:
    """Copies an index that another process writes. An index that cannot be copied is made anew."""
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(to)) as target,
        contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as source,
    ):
        source.backup(target)


def _open_lock(path: str) -> int:
    return os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _take(lock: int) -> bool:
    """Whether the lock is ours now; False if another viewer holds it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove_oldest(cache: str, *, keep: str) -> None:
    """Removes the oldest indexes that no viewer uses."""
    paths = [os.path.join(cache, name) for name in os.listdir(cache) if name.endswith(".sqlite") and name != keep]
    for path in sorted(paths, key=os.path.getmtime)[: max(0, len(paths) - MOST_INDEXES + 1)]:
        lock = _open_lock(path)
        if _take(lock):
            _remove(path)
            os.unlink(f"{path}.lock")
        os.close(lock)


def _remove(path: str) -> None:
    for name in (path, f"{path}-wal", f"{path}-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
