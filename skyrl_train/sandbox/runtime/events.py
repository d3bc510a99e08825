"""The server's events: the last ones for GET /events, and a log line for each."""

import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from skyrl_train.sandbox.runtime.log_line import log_line
from skyrl_train.sandbox.runtime.strangers import Strangers

_LOG = logging.getLogger("skyrl_train.runtime")
KEEP = 2000
FAILURES = frozenset(("failed", "image failed"))
"""Events that are warnings in the log: a sandbox that was given up, an image that the node did not get."""


class Events:
    """The last events. Their numbers have no gaps, so a reader knows what it missed."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._entries: deque[Mapping[str, Any]] = deque(maxlen=KEEP)
        self._number = 0
        self.strangers = Strangers(now)

    def add(self, event: str, **data: object) -> None:
        self._number += 1
        entry = {name: value for name, value in data.items() if value not in (None, "")}
        self._entries.append({"number": self._number, "time": self._now(), "event": event, **entry})
        _LOG.log(logging.WARNING if event in FAILURES else logging.INFO, "%s", log_line(event, entry))

    def after(self, number: int, limit: int = KEEP) -> list[Mapping[str, Any]]:
        return [entry for entry in self._entries if entry["number"] > number][:limit]
