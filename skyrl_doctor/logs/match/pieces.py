"""The lines of a block in which patterns may stand: what lies between line feeds and carriage returns."""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence, Set
from typing import NamedTuple

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.match.engine import EACH, Place
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.noise import OVERLAP, WINDOW, bounds, clean, prefix


@record
class Seen:
    """A block, and where the engine saw something in it: the place, the pattern, and how many lines end before.

    Made in any thread. Arrays, for several wait to be judged, and each of a hundred thousand places may have one.
    """

    block: Block
    places: "array[int]"
    numbers: "array[int]"
    before: "array[int]"
    feeds: int

    @classmethod
    def of(cls, block: Block, found: Sequence[Place], ends: Sequence[int] = ()) -> "Seen":
        """`ends` are the places after each EACHth line feed, if they are known; between them the feeds are counted."""
        data, before, at, feeds, known = block.data, array("Q"), 0, 0, 0
        for place in (*(place for place, _ in found), len(data)):
            known = bisect_right(ends, place, known)
            if known and ends[known - 1] > at:
                at, feeds = ends[known - 1], known * EACH
            feeds += data.count(b"\n", at, place)
            at = place
            before.append(feeds)
        before.pop()
        places, numbers = array("Q", (place for place, _ in found)), array("Q", (number for _, number in found))
        return cls(block, places, numbers, before, feeds)


Key = tuple[bytes, bytes]
"""A line as it lies, and the patterns that may stand in it."""


class Piece(NamedTuple):
    """A line, or a window of a long one, clean; `start` and `end` are where it lies in its block.

    feeds  lines of the block that end before it
    key    what it is known by; none of a window
    """

    start: int
    end: int
    raw: bytes
    text: bytes
    feeds: int
    patterns: frozenset[int]
    key: Key | None = None

    @property
    def whose(self) -> bytes:
        return prefix(self.raw)


def pieces(
    seen: Seen,
    full: Set[int] = frozenset(),
    skips: Callable[[Key, int, int], bool] = lambda *_: False,
    sure: int | None = None,
) -> Iterator[Piece]:
    """In order, as the places are; `full` are the patterns that are looked for no more by the time that it comes to a place.

    `skips` says of a line, by what it is, where it ends and how many end before it, that nobody needs it: it is asked before
    the line is cleaned. Of a line that has the number `sure` nobody needs the text.
    """
    block, places, numbers, at = seen.block, seen.places, seen.numbers, 0
    while at < len(places):
        if numbers[at] in full:
            at += 1
            continue
        start, end = bounds(block.data, places[at])
        beyond = bisect_right(places, end, at)
        feeds, within, is_sure = seen.before[at], slice(at, beyond), numbers[at] == sure
        at = beyond
        if is_sure:
            yield Piece(start, end, b"", b"", feeds, frozenset(numbers[within]))
            continue
        if end - start > WINDOW:
            yield from _windows(block, start, end, feeds, list(zip(places[within], numbers[within], strict=True)))
            continue
        key = (block.data[start:end], numbers[within].tobytes())
        if skips(key, block.start + end, feeds):
            continue
        if some := frozenset(numbers[within]).difference(full):
            yield _piece(block, start, end, feeds, some, key)


def _windows(block: Block, start: int, end: int, feeds: int, places: Sequence[Place]) -> Iterator[Piece]:
    """A match lies in the window of its place, or runs out of the one before."""
    wanted: dict[int, set[int]] = {}
    for at, number in places:
        window, into = divmod(at - start, WINDOW)
        wanted.setdefault(window, set()).add(number)
        if window and into <= OVERLAP:
            wanted.setdefault(window - 1, set()).add(number)
    for window in sorted(wanted):
        first = start + window * WINDOW
        last = first + WINDOW + OVERLAP
        if last <= end or not block.cut or end < len(block.data):  # else it comes again, whole, in the next block
            yield _piece(block, first, min(last, end), feeds, frozenset(wanted[window]))


def _piece(block: Block, start: int, end: int, feeds: int, patterns: frozenset[int], key: Key | None = None) -> Piece:
    raw = key[0] if key else block.data[start:end]
    return Piece(start, end, raw, clean(raw), feeds, patterns, key)
