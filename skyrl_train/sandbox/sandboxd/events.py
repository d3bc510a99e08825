"""What commands were started and what they gave, as clients search for it, in bounded memory."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque

from skyrl_train.contracts.sandboxd_api import BASH_COMMAND, BASH_OUTPUT

KEPT_BYTES = 16 * 1024 * 1024
"""Of memory, for commands and outputs. The oldest go first; the newest are kept whatever their size."""
_ALWAYS_KEPT = 2


def new_id() -> str:
    return os.urandom(16).hex()


def now() -> str:
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest // 1000:06}Z"


def command_event(command: str, cwd: str | None, timeout: int) -> dict[str, object]:
    return {
        "command": command,
        "cwd": cwd,
        "timeout": timeout,
        "id": new_id(),
        "timestamp": now(),
        "kind": BASH_COMMAND,
    }


def output_event(command_id: str, exit_code: int, stdout: str, stderr: str) -> dict[str, object]:
    return {
        "id": new_id(),
        "timestamp": now(),
        "command_id": command_id,
        "order": 0,
        "exit_code": exit_code,
        "stdout": stdout or None,
        "stderr": stderr or None,
        "kind": BASH_OUTPUT,
    }


class Search:
    """What GET …/bash_events/search asks for."""

    __slots__ = ("command_id", "kind", "limit", "newest_first", "order_above", "page_id", "since", "until")

    def __init__(self) -> None:
        self.kind: str | None = None
        self.command_id: str | None = None
        self.order_above: int | None = None
        self.since: str | None = None
        self.until: str | None = None
        self.newest_first = False
        self.page_id: str | None = None
        self.limit = 100

    def wants(self, event: dict[str, object]) -> bool:
        """A command's own event has no command_id and no order: the first leaves it out, the second does not."""
        order = event.get("order")
        return (
            self.kind in (None, event["kind"])
            and self.command_id in (None, event.get("command_id"))
            and (self.since is None or str(event["timestamp"]) >= self.since)
            and (self.until is None or str(event["timestamp"]) < self.until)
            and (self.order_above is None or not isinstance(order, int) or order > self.order_above)
        )


class Events:
    """In the order in which they came, which is that of their times."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._lock = threading.Lock()
        self._events: deque[dict[str, object]] = deque()
        self._bytes = 0
        self._kept_bytes = kept_bytes

    def add(self, event: dict[str, object]) -> dict[str, object]:
        with self._lock:
            self._events.append(event)
            self._bytes += _size(event)
            while self._bytes > self._kept_bytes and len(self._events) > _ALWAYS_KEPT:
                self._bytes -= _size(self._events.popleft())
        return event

    def get(self, event_id: str) -> dict[str, object] | None:
        with self._lock:
            return next((event for event in self._events if event["id"] == event_id), None)

    def clear(self) -> int:
        with self._lock:
            count = len(self._events)
            self._events.clear()
            self._bytes = 0
        return count

    def search(self, search: Search) -> dict[str, object]:
        with self._lock:
            found = [event for event in self._events if search.wants(event)]
        if search.newest_first:
            found.reverse()
        starts = [number for number, event in enumerate(found) if event["id"] == search.page_id]
        start = starts[0] if starts else 0
        stop = start + search.limit
        return {"items": found[start:stop], "next_page_id": found[stop]["id"] if len(found) > stop else None}


def _size(event: dict[str, object]) -> int:
    """A text of other letters than ours takes two or four bytes for each."""
    return 512 + sum(sys.getsizeof(event.get(key)) for key in ("command", "stdout", "stderr"))
