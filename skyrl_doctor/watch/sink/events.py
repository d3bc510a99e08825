"""events.jsonl: one JSON object a line, on disk before any action.

An event that cannot be written (a full disk) is kept and written later. No event is written twice, also not by a watch
that takes over from a killed one: the file itself records what was reported.
"""

import json
import os
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from skyrl_doctor.watch.finding import Alert, read_alert
from skyrl_train.contracts import bounded

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
        """How many lines are not on disk yet."""
        return len(self._waiting)

    def add(self, one: Mapping[str, Any]) -> None:
        self._waiting.append(json.dumps(one, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n")

    def flush(self) -> bool:
        """Writes the waiting lines. False where some still wait; `trouble` has the reason."""
        if not self._waiting:
            return True
        try:
            handle = os.open(
                self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644
            )
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
        if size and os.pread(handle, 1, size - 1) != b"\n":  # a line truncated by a kill or a full disk
            os.write(handle, b"\n")
        while self._waiting:
            line = self._waiting[0]
            if os.write(handle, line) != len(line):  # the rest of it comes as a line that is no JSON, and then again
                raise OSError(28, "No space left on device")
            os.fsync(handle)
            self._waiting.popleft()


LONGEST_EVENT = 1 << 20


def read(path: str) -> Iterator[dict[str, Any]]:
    """The events of a file; a truncated line is skipped."""
    try:
        for _, line in bounded.lines(path, longest=LONGEST_EVENT):
            if line is not None and (one := _event(line)) is not None:
                yield one
    except FileNotFoundError:
        return


def _event(line: str) -> dict[str, Any] | None:
    try:
        one = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(one, dict) and one.get("schema") == SCHEMA and isinstance(one.get("event"), str)
    return one if whole else None


def open_alerts(path: str) -> dict[str, Alert]:
    """The findings that no later event clears, by their keys."""
    found: dict[str, Alert] = {}
    for one in read(path):
        if one["event"] == CLEARED:
            found.pop(str(one.get("key")), None)
        elif one["event"] == FINDING and (seen := read_alert(one)) is not None:
            found[seen.key] = seen
    return found


class Ledger:
    """How often each update was reported: in the file, and by the rules up to their saved state.

    A watch that takes over reads some lines again, and its rules repeat some updates: as many as the file has beyond the
    state are skipped.
    """

    def __init__(self, in_file: Mapping[str, int], in_state: Mapping[str, int]) -> None:
        self._in_file, self._in_state = Counter(in_file), Counter(in_state)

    @classmethod
    def of(cls, path: str, in_state: Mapping[str, int]) -> "Ledger":
        reported = (one for one in read(path) if one["event"] in (FINDING, CLEARED))
        return cls(Counter(str(one.get("key")) for one in reported), in_state)

    def is_new(self, key: str) -> bool:
        self._in_state[key] += 1
        if self._in_state[key] <= self._in_file[key]:
            return False
        self._in_file[key] = self._in_state[key]
        return True

    def counts(self) -> dict[str, int]:
        return dict(self._in_state)
