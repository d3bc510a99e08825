"""The engine on Hyperscan: all patterns at once, several hundred megabytes a second, without Python's lock."""

import contextlib
import functools
import json
import platform
import re
import threading
from collections.abc import Sequence, Set
from pathlib import Path

import hyperscan  # noqa: TID253 -- this module is imported only where the extra is installed

from skyrl_doctor.logs.match import engine as engine_
from skyrl_doctor.logs.match import literals as literals_
from skyrl_doctor.logs.match import ordinary_lines as ordinary_
from skyrl_doctor.logs.match import rare_texts as rare_
from skyrl_doctor.logs.match import spellings as spelled_
from skyrl_doctor.logs.match.engine import EACH, Place, loose, places
from skyrl_doctor.logs.match.engine_cache import cached, load, store
from skyrl_doctor.logs.match.literals import branches
from skyrl_doctor.logs.match.rare_texts import rare
from skyrl_doctor.logs.read import noise as noise_
from skyrl_doctor.logs.read.noise import ODD

_SHORT = r"\x01\x02\x03"
"""No log holds it. Where each text that is looked for is long, Hyperscan looks at each fourth place only, and has to make sure
of what it believes to see there half of the time; beside a short one it looks at each second, which takes half as long."""
_ENDS = rb"^(?:(?:[^\n]*\n){%d})+" % EACH
_WORTH = 1 << 16
"""In a shorter text line feeds are counted at once."""
Wanted = dict[str, set[int]]
"""The expressions, and the patterns that each stands for."""


class Hyperscan:
    """Compiled once, shared by threads."""

    def __init__(self, patterns: Sequence[str], often: Set[int] = frozenset()) -> None:
        self._count = len(patterns)
        self._often = {number: re.compile(loose(patterns[number]).encode()) for number in often}
        self._numbers, self._database = _database(patterns, often)
        self._own = threading.local()
        self._lock = threading.Lock()
        self._feeds: hyperscan.Database | None = None

    def places(self, data: bytes) -> list[Place]:
        return places(self._search, self._count, data, self._often)

    def ends(self, data: bytes) -> Sequence[int]:
        found: list[int] = []
        if len(data) < _WORTH:
            return found

        def seen(_index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found.append(end)

        feeds = self._of_feeds()
        feeds.scan(data, match_event_handler=seen, scratch=self._scratch(feeds))
        return found

    def _of_feeds(self) -> hyperscan.Database:
        """Made when a long text first needs it."""
        with self._lock:
            if self._feeds is None:
                self._feeds = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
                self._feeds.compile(expressions=[_ENDS], ids=[0], flags=[0])
            return self._feeds

    def _search(self, data: bytes) -> list[Place]:
        found: list[Place] = []
        numbers, add = self._numbers, found.append

        def seen(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            for number in numbers[index]:
                add((end - 1, number))

        self._database.scan(data, match_event_handler=seen, scratch=self._scratch(self._database))
        return found

    def _scratch(self, database: hyperscan.Database) -> hyperscan.Scratch:
        """Working memory of this thread."""
        own: dict[int, hyperscan.Scratch] = self._own.__dict__.setdefault("scratch", {})
        if id(database) not in own:
            own[id(database)] = hyperscan.Scratch(database)
        return own[id(database)]


def _database(patterns: Sequence[str], often: Set[int]) -> tuple[list[list[int]], hyperscan.Database]:
    """The numbers of the patterns for each expression, and all of these compiled.

    From the cache, if this processor and this Hyperscan can use what lies there, and these modules made it.
    """
    path = _place(patterns, often)
    numbers, _, stored = (load(path) or b"").partition(b"\n")
    with contextlib.suppress(hyperscan.error, ValueError):
        return json.loads(numbers), hyperscan.loadb(stored, hyperscan.HS_MODE_BLOCK)
    wanted = _wanted(patterns, often)
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[expression.encode() for expression in wanted],
        ids=list(range(len(wanted))),
        flags=[hyperscan.HS_FLAG_SINGLEMATCH if some & often else 0 for some in wanted.values()],
    )
    made = [sorted(some) for some in wanted.values()]
    store(path, json.dumps(made).encode() + b"\n" + hyperscan.dumpb(database))
    return made, database


def _wanted(patterns: Sequence[str], often: Set[int]) -> Wanted:
    wanted: Wanted = {_SHORT: set()}
    for number, pattern in enumerate(patterns):
        for branch in branches(pattern):
            texts = rare(branch) if number not in often else ()
            for expression in sorted(map(re.escape, texts)) or [loose(branch)]:
                wanted.setdefault(expression, set()).add(number)
    for expression in (*ODD[b"\x1b"], *ODD[b"\x00"]):
        wanted.setdefault(expression, set()).add(len(patterns))
    return wanted


def _place(patterns: Sequence[str], often: Set[int]) -> Path | None:
    key = [getattr(hyperscan, "__version__", ""), platform.machine(), repr(sorted(often)), *patterns]
    try:
        return cached([*key, *_makers()])
    except OSError:  # modules that lie in no files
        return None


@functools.cache
def _makers() -> tuple[str, ...]:
    """The text of the modules that make expressions of patterns: others would make others."""
    modules = (engine_, literals_, noise_, ordinary_, rare_, spelled_)
    files = (__file__, *(module.__file__ for module in modules))
    return tuple(Path(file).read_text(encoding="utf-8") for file in files if file)
