"""The engine on Hyperscan: all patterns at once, several hundred megabytes a second, without Python's lock."""

import contextlib
import functools
import json
import platform
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import hyperscan  # noqa: TID253 -- this module is imported only where the extra is installed

from skyrl_doctor.logs import engine as engine_
from skyrl_doctor.logs import literals as literals_
from skyrl_doctor.logs.compiled import cached, load, store
from skyrl_doctor.logs.engine import Place, loose, places
from skyrl_doctor.logs.literals import branches, literals
from skyrl_doctor.logs.noise import ODD

_LONG = 6
_COMMON = (
    "rollout",
    "worker",
    "finished",
    "request",
    "runtime",
    "critic/",
    "prompt",
    "raining",
    "sandbox",
    "sample",
    "attempt",
    "traject",
    "session",
    "server",
)
"""A text of so many letters is rare enough to be looked for in place of its pattern, and much cheaper; but for these words."""
_ENDING = 4


class Hyperscan:
    """Compiled once, shared by threads. Noise has databases of its own: together they are half as fast."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._count = len(patterns)
        self._numbers, self._patterns = _database(patterns, _cheap)
        self._odd = {byte: _database(odd, lambda pattern: [pattern])[1] for byte, odd in ODD.items()}
        self._own = threading.local()

    def places(self, data: bytes) -> list[Place]:
        return places(self._search, self._count, data)

    def _search(self, data: bytes) -> list[Place]:
        found: list[Place] = []
        numbers, add, odd = self._numbers, found.append, self._count

        def seen(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            add((end - 1, numbers[index]))

        def noise(_index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            add((end - 1, odd))

        self._patterns.scan(data, match_event_handler=seen, scratch=self._scratch("patterns", self._patterns))
        for byte, database in self._odd.items():
            if byte in data:
                database.scan(data, match_event_handler=noise, scratch=self._scratch(byte.hex(), database))
        return found

    def _scratch(self, name: str, database: hyperscan.Database) -> hyperscan.Scratch:
        """Working memory of this thread."""
        own: dict[str, hyperscan.Scratch] = self._own.__dict__
        if name not in own:
            own[name] = hyperscan.Scratch(database)
        return own[name]


def _database(patterns: Sequence[str], cheapened: Callable[[str], list[str]]) -> tuple[list[int], hyperscan.Database]:
    """The number of the pattern for each expression, and all of these compiled.

    From the cache, if this processor and this Hyperscan can use what lies there, and these modules made it.
    """
    path = _place(patterns)
    numbers, _, stored = (load(path) or b"").partition(b"\n")
    with contextlib.suppress(hyperscan.error, ValueError):
        return json.loads(numbers), hyperscan.loadb(stored, hyperscan.HS_MODE_BLOCK)
    wanted = [(cheap, number) for number, pattern in enumerate(patterns) for cheap in cheapened(pattern)]
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[cheap.encode() for cheap, _ in wanted],
        ids=list(range(len(wanted))),
        flags=[0] * len(wanted),
    )
    made = [number for _, number in wanted]
    store(path, json.dumps(made).encode() + b"\n" + hyperscan.dumpb(database))
    return made, database


def _place(patterns: Sequence[str]) -> Path | None:
    try:
        return cached([getattr(hyperscan, "__version__", ""), platform.machine(), *_makers(), *patterns])
    except OSError:  # modules that lie in no files
        return None


@functools.cache
def _makers() -> tuple[str, ...]:
    """The text of the modules that make expressions of patterns: others would make others."""
    return tuple(
        Path(module).read_text(encoding="utf-8") for module in (__file__, literals_.__file__, engine_.__file__)
    )


def _cheap(pattern: str) -> list[str]:
    found: list[str] = []
    for branch in branches(pattern):
        texts = literals(branch)
        rare = texts and all(len(text) >= _LONG and not _is_common(text) for text in texts)
        found += [re.escape(text) for text in sorted(texts)] if rare else [loose(branch)]
    return found


def _is_common(text: str) -> bool:
    """Whether the text is one of the words of every log, with an ending: each line that holds it would be judged."""
    bare = text.strip().lower()
    return any(bare.startswith(word) and len(bare) <= len(word) + _ENDING for word in _COMMON)
