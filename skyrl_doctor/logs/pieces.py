"""The lines of a block in which patterns may stand: what lies between line feeds and carriage returns."""

from collections.abc import Iterator, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.blocks import Block
from skyrl_doctor.logs.engine import Place
from skyrl_doctor.logs.noise import OVERLAP, WINDOW, bounds, clean, prefix


@record
class Piece:
    """A line, or a window of a long one, clean; `start` and `end` are where it lies in its block."""

    start: int
    end: int
    text: bytes
    whose: bytes
    patterns: tuple[int, ...]


def pieces(block: Block, places: Sequence[Place]) -> Iterator[Piece]:
    """In order. The places are."""
    at = 0
    while at < len(places):
        start, end = bounds(block.data, places[at][0])
        beyond = at
        while beyond < len(places) and places[beyond][0] <= end:
            beyond += 1
        within = places[at:beyond]
        at = beyond
        if end - start <= WINDOW:
            yield _piece(block, start, end, {number for _, number in within})
        else:
            yield from _windows(block, start, end, within)


def _windows(block: Block, start: int, end: int, places: Sequence[Place]) -> Iterator[Piece]:
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
            yield _piece(block, first, min(last, end), wanted[window])


def _piece(block: Block, start: int, end: int, patterns: set[int]) -> Piece:
    raw = block.data[start:end]
    return Piece(start, end, clean(raw), prefix(raw), tuple(sorted(patterns)))
