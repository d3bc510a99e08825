"""The lines of a block in which patterns may stand: what lies between line feeds and carriage returns."""

from collections.abc import Iterator, Sequence, Set

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.blocks import Block
from skyrl_doctor.logs.engine import Place
from skyrl_doctor.logs.noise import OVERLAP, WINDOW, bounds, clean, prefix


@record
class Seen:
    """A block, where the engine saw something in it, and how many lines end before each place. Made in any thread."""

    block: Block
    places: Sequence[Place]
    before: Sequence[int]
    feeds: int

    @classmethod
    def of(cls, block: Block, places: Sequence[Place]) -> "Seen":
        data, before, at, feeds = block.data, [], 0, 0
        for place, _ in places:
            feeds += data.count(b"\n", at, place)
            at = place
            before.append(feeds)
        return cls(block, places, before, feeds + data.count(b"\n", at))

    def without(self, numbers: Set[int]) -> "Seen":
        """What is left when some patterns are looked for no more."""
        if not numbers:
            return self
        kept = [at for at, (_, number) in enumerate(self.places) if number not in numbers]
        return Seen(self.block, [self.places[at] for at in kept], [self.before[at] for at in kept], self.feeds)


@record
class Piece:
    """A line, or a window of a long one, clean; `start` and `end` are where it lies in its block.

    feeds  lines of the block that end before it
    """

    start: int
    end: int
    text: bytes
    whose: bytes
    feeds: int
    patterns: tuple[int, ...]


def pieces(seen: Seen) -> Iterator[Piece]:
    """In order. The places are."""
    block, places, at = seen.block, seen.places, 0
    while at < len(places):
        start, end = bounds(block.data, places[at][0])
        beyond = at
        while beyond < len(places) and places[beyond][0] <= end:
            beyond += 1
        within, feeds = places[at:beyond], seen.before[at]
        at = beyond
        if end - start <= WINDOW:
            yield _piece(block, start, end, feeds, {number for _, number in within})
        else:
            yield from _windows(block, start, end, feeds, within)


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
            yield _piece(block, first, min(last, end), feeds, wanted[window])


def _piece(block: Block, start: int, end: int, feeds: int, patterns: set[int]) -> Piece:
    raw = block.data[start:end]
    return Piece(start, end, clean(raw), prefix(raw), feeds, tuple(sorted(patterns)))
