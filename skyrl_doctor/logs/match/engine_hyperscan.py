"""The engine on Hyperscan: searches all patterns at once, several hundred megabytes a second, without Python's lock."""

import contextlib
import functools
import json
import platform
import re
import threading
from collections.abc import Sequence, Set
from pathlib import Path

import hyperscan  # noqa: TID253 -- this module is imported only where the extra is installed

from skyrl_doctor.logs.match import engine as engine_module
from skyrl_doctor.logs.match import literals as literals_module
from skyrl_doctor.logs.match import ordinary_lines as ordinary_lines_module
from skyrl_doctor.logs.match import rare_texts as rare_texts_module
from skyrl_doctor.logs.match import spellings as spellings_module
from skyrl_doctor.logs.match.engine import FEED_INTERVAL, Place, find_places, loosen
from skyrl_doctor.logs.match.engine_cache import cache_path, load, store
from skyrl_doctor.logs.match.literals import split_branches
from skyrl_doctor.logs.match.rare_texts import find_rare_texts
from skyrl_doctor.logs.read import noise as noise_module
from skyrl_doctor.logs.read.noise import SPLITTING

_SHORT_TEXT = r"\x01\x02\x03"
"""A short text that no log holds. If all texts are long, Hyperscan looks at every fourth byte and then has to check half of
the places; beside a short text it looks at every second byte, which takes half as long."""
_FEEDS = rb"^(?:(?:[^\n]*\n){%d})+" % FEED_INTERVAL
_MIN_FEED_SEARCH = 1 << 16
"""The line feeds of a shorter text are counted."""
Expressions = dict[str, set[int]]
"""Expressions, and the numbers of the patterns that each stands for."""


class HyperscanEngine:
    """The patterns, compiled once; threads share them."""

    def __init__(self, patterns: Sequence[str], frequent: Set[int] = frozenset()) -> None:
        self._count = len(patterns)
        self._frequent = {number: re.compile(loosen(patterns[number]).encode()) for number in frequent}
        self._numbers, self._database = _load_or_compile(patterns, frequent)
        self._of_thread = threading.local()
        self._lock = threading.Lock()
        self._feeds: hyperscan.Database | None = None

    def places(self, data: bytes) -> list[Place]:
        """See Engine."""
        return find_places(self._search, self._count, data, self._frequent)

    def feed_ends(self, data: bytes) -> Sequence[int]:
        """See Engine."""
        found: list[int] = []
        if len(data) < _MIN_FEED_SEARCH:
            return found

        def add_end(_index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            found.append(end)

        feeds = self._feed_database()
        feeds.scan(data, match_event_handler=add_end, scratch=self._scratch(feeds))
        return found

    def _feed_database(self) -> hyperscan.Database:
        """Compile the expression for line feeds when a long text first needs it."""
        with self._lock:
            if self._feeds is None:
                self._feeds = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
                self._feeds.compile(expressions=[_FEEDS], ids=[0], flags=[0])
            return self._feeds

    def _search(self, data: bytes) -> list[Place]:
        found: list[Place] = []
        numbers, add = self._numbers, found.append

        def add_places(index: int, _start: int, end: int, _flags: int, _context: object) -> None:
            for number in numbers[index]:
                add((end - 1, number))

        self._database.scan(data, match_event_handler=add_places, scratch=self._scratch(self._database))
        return found

    def _scratch(self, database: hyperscan.Database) -> hyperscan.Scratch:
        """The working memory of this thread for a database."""
        own: dict[int, hyperscan.Scratch] = self._of_thread.__dict__.setdefault("scratch", {})
        if id(database) not in own:
            own[id(database)] = hyperscan.Scratch(database)
        return own[id(database)]


def _load_or_compile(patterns: Sequence[str], frequent: Set[int]) -> tuple[list[list[int]], hyperscan.Database]:
    """The numbers of the patterns of each expression, and the compiled expressions.

    They come from the cache if this processor, this Hyperscan and these modules made what is stored there.
    """
    path = _cache_path(patterns, frequent)
    numbers, _, stored = (load(path) or b"").partition(b"\n")
    with contextlib.suppress(hyperscan.error, ValueError):
        return json.loads(numbers), hyperscan.loadb(stored, hyperscan.HS_MODE_BLOCK)
    expressions = _expressions(patterns, frequent)
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[expression.encode() for expression in expressions],
        ids=list(range(len(expressions))),
        flags=[hyperscan.HS_FLAG_SINGLEMATCH if some & frequent else 0 for some in expressions.values()],
    )
    compiled_numbers = [sorted(some) for some in expressions.values()]
    store(path, json.dumps(compiled_numbers).encode() + b"\n" + hyperscan.dumpb(database))
    return compiled_numbers, database


def _expressions(patterns: Sequence[str], frequent: Set[int]) -> Expressions:
    found: Expressions = {_SHORT_TEXT: set()}
    for number, pattern in enumerate(patterns):
        for branch in split_branches(pattern):
            texts = find_rare_texts(branch) if number not in frequent else ()
            for expression in sorted(map(re.escape, texts)) or [loosen(branch)]:
                found.setdefault(expression, set()).add(number)
    for expression in (*SPLITTING[b"\x1b"], *SPLITTING[b"\x00"]):
        found.setdefault(expression, set()).add(len(patterns))
    return found


def _cache_path(patterns: Sequence[str], frequent: Set[int]) -> Path | None:
    key = [getattr(hyperscan, "__version__", ""), platform.machine(), repr(sorted(frequent)), *patterns]
    try:
        return cache_path([*key, *_module_texts()])
    except OSError:  # the modules are not files
        return None


@functools.cache
def _module_texts() -> tuple[str, ...]:
    """The text of the modules that make expressions of patterns: a change of them makes other expressions."""
    modules = (
        engine_module,
        literals_module,
        noise_module,
        ordinary_lines_module,
        rare_texts_module,
        spellings_module,
    )
    files = (__file__, *(module.__file__ for module in modules))
    return tuple(Path(file).read_text(encoding="utf-8") for file in files if file)
