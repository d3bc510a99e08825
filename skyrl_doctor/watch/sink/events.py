"""events.jsonl: one JSON object a line, on disk before anything else is done about it.

What cannot be written now (a full disk) is kept and written later; what was written is never written twice, also not
by the watch that takes over from one that was killed: the file itself is the book of what was said.
"""

import json
import os
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

SCHEMA = 1
MOST_WAITING = 5000
FINDING, CLEARED = "finding", "cleared"


def event(kind: str, at: float, **rest: Any) -> dict[str, Any]:
    """A line of the file."""
    time = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
    return {"schema": SCHEMA, "event": kind, "at": round(at, 3), "time": time, **rest}


class Events:
    def __init__(self, path: str) -> None:
        self.path = path
        self._waiting: deque[bytes] = deque(maxlen=MOST_WAITING)
        self.trouble = ""

    @property
    def waiting(self) -> int:
        """How many lines the disk has not taken yet."""
        return len(self._waiting)

    def add(self, one: Mapping[str, Any]) -> None:
        self._waiting.append(json.dumps(one, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n")

    def flush(self) -> bool:
        """Writes what waits, whole lines only; False where something still waits, and `trouble` says why."""
        if not self._waiting:
            return True
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            self.trouble = f"{self.path}: {error.strerror}"
            return False
        try:
            self._write(handle)
        except OSError as error:
            self.trouble = f"{self.path}: {error.strerror}"
            return False
        finally:
            os.close(handle)
        self.trouble = ""
        return True

    def _write(self, handle: int) -> None:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":  # a line that was cut by a kill or a full disk
            os.write(handle, b"\n")
        while self._waiting:
            line = self._waiting[0]
            if os.write(handle, line) != len(line):  # the rest of it comes as a line that is no JSON, and then again
                raise OSError(28, "No space left on device")
            os.fsync(handle)
            self._waiting.popleft()


def read(path: str) -> Iterator[dict[str, Any]]:
    """The events of a file; a line that was cut is passed over."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            yield from (one for line in file if (one := _event(line)) is not None)
    except FileNotFoundError:
        return


def _event(line: str) -> dict[str, Any] | None:
    try:
        one = json.loads(line)
    except ValueError:
        return None
    whole = isinstance(one, dict) and one.get("schema") == SCHEMA and isinstance(one.get("event"), str)
    return one if whole else None


class Ledger:
    """How often each finding was said: in the file, and by the rules since their state was saved.

    A watch that takes over reads some lines again and its rules say some things again: as many as the file holds
    beyond the state are passed over.
    """

    def __init__(self, in_file: Mapping[str, int], in_state: Mapping[str, int]) -> None:
        self._in_file, self._in_state = Counter(in_file), Counter(in_state)

    @classmethod
    def of(cls, path: str, in_state: Mapping[str, int]) -> "Ledger":
        said = (one for one in read(path) if one["event"] in (FINDING, CLEARED))
        return cls(Counter(str(one.get("key")) for one in said), in_state)

    def is_new(self, key: str) -> bool:
        self._in_state[key] += 1
        if self._in_state[key] <= self._in_file[key]:
            return False
        self._in_file[key] = self._in_state[key]
        return True

    def counts(self) -> dict[str, int]:
        return dict(self._in_state)
