"""The engine on Hyperscan: all patterns at once, several hundred megabytes a second, without Python's lock."""

import contextlib
import platform
import re
import threading
from collections.abc import Iterator, Sequence

import hyperscan  # noqa: TID253 -- this module is imported only where the extra is installed

from skyrl_doctor.logs.compiled import cached, load, store
from skyrl_doctor.logs.engine import Place, loose, places
from skyrl_doctor.logs.literals import literals
from skyrl_doctor.logs.noise import ODD

_LONG = 10
"""A text of so many letters is rare enough to be looked for in place of its pattern, and much cheaper."""


class Hyperscan:
    """Compiled once, shared by threads."""

    def __init__(self, patterns: Sequence[str]) -> None:
        wanted = [(cheap, number) for number, pattern in enumerate(patterns) for cheap in _cheap(pattern)]
        wanted += [(odd, len(patterns)) for odd in ODD]
        self._count = len(patterns)
        self._numbers = [number for _, number in wanted]
        self._database = _database([cheap for cheap, _ in wanted])
        self._own = threading.local()

    def places(self, data: bytes) -> list[Place]:
        return places(self._search, self._count, data)

    def _search(self, data: bytes) -> Iterator[Place]:
        if not hasattr(self._own, "scratch"):
            self._own.scratch = hyperscan.Scratch(self._database)
        found: list[Place] = []
        numbers, add = self._numbers, found.append

        def seen(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            add((end - 1, numbers[index]))

        self._database.scan(data, match_event_handler=seen, scratch=self._own.scratch)
        return iter(found)


def _database(expressions: list[str]) -> hyperscan.Database:
    """From the cache, if this processor and this Hyperscan can use what lies there."""
    path = cached([getattr(hyperscan, "__version__", ""), platform.machine(), *expressions])
    stored = load(path)
    if stored is not None:
        with contextlib.suppress(hyperscan.error):
            return hyperscan.loadb(stored, hyperscan.HS_MODE_BLOCK)
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[expression.encode() for expression in expressions],
        ids=list(range(len(expressions))),
        flags=[0] * len(expressions),
    )
    store(path, hyperscan.dumpb(database))
    return database


def _cheap(pattern: str) -> list[str]:
    texts = literals(pattern)
    if texts and min(map(len, texts)) >= _LONG:
        return [re.escape(text) for text in sorted(texts)]
    return [loose(pattern)]
