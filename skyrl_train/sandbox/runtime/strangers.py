"""Requests without the key, apart from the server's own events: anyone who reaches the port can send millions."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from skyrl_train.sandbox.runtime.log_line import log_line

_LOG = logging.getLogger("skyrl_train.runtime")
KEEP = 100
LINES = 20
WINDOW_S = 60.0
_LONGEST = 200


class Strangers:
    """One entry for each client and reason, with the number of requests. The oldest entries go first.

    The log gets at most LINES lines in WINDOW_S seconds, and one with the number of those left out.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._entries: OrderedDict[tuple[object, ...], dict[str, Any]] = OrderedDict()
        self._window_began = 0.0
        self._lines = 0

    def add(self, *, status: int, why: str, client: str, method: str = "", path: str = "") -> None:
        key = (client, status, why[:_LONGEST])
        now = self._now()
        entry = self._entries.pop(key, None) or {
            "client": client,
            "status": status,
            "why": why[:_LONGEST],
            "first": now,
            "count": 0,
        }
        entry.update(count=entry["count"] + 1, last=now, method=method[:_LONGEST], path=path[:_LONGEST])
        self._entries[key] = entry
        if len(self._entries) > KEEP:
            self._entries.popitem(last=False)
        self._log(now, {"status": status, "why": key[2], "client": client, "method": method, "path": path[:_LONGEST]})

    def last(self) -> list[Mapping[str, Any]]:
        """The entries, the latest last."""
        return [dict(entry) for entry in self._entries.values()]

    def _log(self, now: float, data: Mapping[str, object]) -> None:
        if not 0 <= now - self._window_began < WINDOW_S:
            if self._lines > LINES:
                _LOG.info("%s", log_line("refused without key", {"more": self._lines - LINES}))
            self._window_began, self._lines = now, 0
        self._lines += 1
        if self._lines <= LINES:
            _LOG.info("%s", log_line("refused without key", data))
