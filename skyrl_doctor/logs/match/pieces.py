"""The lines of a block in which patterns may match: the text between line feeds and carriage returns."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence, Set
from typing import NamedTuple

from skyrl_doctor.logs.match.candidates import Candidates
from skyrl_doctor.logs.match.engine import Place
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.noise import OVERLAP, WINDOW, clean, line_bounds, prefix

Key = tuple[bytes, bytes]
"""A raw line and the numbers of the patterns that may match in it."""


class Piece(NamedTuple):
    """A line, or a window of a long one: its bounds in the block, its raw and its clean text.

    feeds     line feeds of the block before it
    patterns  numbers of the patterns that may match
    key       identifies equal lines; None for a window
    """

    start: int
    end: int
    raw: bytes
    text: bytes
    feeds: int
    patterns: frozenset[int]
    key: Key | None = None

    @property
    def process(self) -> bytes:
        """The prefix of the process that wrote the line."""
        return prefix(self.raw)


def split_pieces(
    candidates: Candidates,
    ignored: Set[int] = frozenset(),
    is_skipped: Callable[[Key, int, int], bool] = lambda *_: False,
    certain: int | None = None,
) -> Iterator[Piece]:
    """Yield the pieces in the order of their places.

    ignored     patterns that need no match; the set may change between two pieces
    is_skipped  whether a line is not needed, by its key, its end and the line feeds before; asked before the line is cleaned
    certain     the pattern that needs no text: it is known to match
    """
    block, places, numbers, at = candidates.block, candidates.places, candidates.numbers, 0
    while at < len(places):
        if numbers[at] in ignored:
            at += 1
            continue
        start, end = line_bounds(block.data, places[at])
        beyond = bisect_right(places, end, at)
        feeds, within, is_certain = candidates.feeds_before[at], slice(at, beyond), numbers[at] == certain
        at = beyond
        if is_certain:
            yield Piece(start, end, b"", b"", feeds, frozenset(numbers[within]))
            continue
        if end - start > WINDOW:
            yield from _windows(block, start, end, feeds, list(zip(places[within], numbers[within], strict=True)))
            continue
        key = (block.data[start:end], numbers[within].tobytes())
        if is_skipped(key, block.start + end, feeds):
            continue
        if some := frozenset(numbers[within]).difference(ignored):
            yield _piece(block, start, end, feeds, some, key)


def _windows(block: Block, start: int, end: int, feeds: int, places: Sequence[Place]) -> Iterator[Piece]:
    """The windows of a long line. A match lies in the window of its place, or begins in the one before."""
    patterns: dict[int, set[int]] = {}
    for at, number in places:
        window, into = divmod(at - start, WINDOW)
        patterns.setdefault(window, set()).add(number)
        if window and into <= OVERLAP:
            patterns.setdefault(window - 1, set()).add(number)
    for window in sorted(patterns):
        first = start + window * WINDOW
        last = first + WINDOW + OVERLAP
        if last <= end or not block.cut or end < len(block.data):  # else it comes again, complete, in the next block
            yield _piece(block, first, min(last, end), feeds, frozenset(patterns[window]))


def _piece(block: Block, start: int, end: int, feeds: int, patterns: frozenset[int], key: Key | None = None) -> Piece:
    raw = key[0] if key else block.data[start:end]
    return Piece(start, end, raw, clean(raw), feeds, patterns, key)
