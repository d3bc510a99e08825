"""Reads what pip and uv quote of a failed build as the build wrote it: without their indentation, and with the lines whole
that uv broke at the width of the terminal, which is 80 where there is none."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.match.patterns import TRACEBACK, Patterns, compile_pattern
from skyrl_doctor.logs.match.pieces import Piece
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.noise import WINDOW, clean

_OPENERS = ("─▶ ".encode(), "─> ".encode())
_MARK = re.compile(rb"(?P<indent> {0,12})(?:\xe2\x95\xb0|\xe2\x94\x9c)\xe2\x94\x80(?:\xe2\x96\xb6|>) ")
"""Stands before a reason, below the line with what failed: `╰─> [9 lines of output]`, `├─▶ The build backend returned an error`."""
_MARK_WIDTH = 4
_LESS = 2
"""So many columns less have those that were pasted below a shifted first line."""
_BAR = re.compile(rb"( {0,12})\xe2\x94\x82(?= |$)")
"""Stands before the output of a reason that has another one below."""
_NARROWEST = 64
"""A line that ends earlier was not broken by uv."""
_MOST_JOINED = 6


@record
class Row:
    """A line of a box: its bounds in the block, its text without what stands before it, and its width with that."""

    start: int
    end: int
    text: bytes
    width: int


class Boxes:
    """The boxes of one file. Blocks must come in order, since a box may go on in the next one."""

    def __init__(self) -> None:
        self._indent: int | None = None

    def replace(self, pieces: Iterator[Piece], block: Block, patterns: Patterns) -> Iterator[Piece]:
        """The pieces of a block; those within boxes are read anew."""
        rows = list(self._rows(block))
        if not rows:
            yield from pieces
            return
        boxed, starts = list(_pieces(rows, block, patterns)), [row.start for row in rows]
        boxed.reverse()
        for piece in pieces:
            while boxed and boxed[-1].start <= piece.start:
                yield boxed.pop()
            at = bisect_right(starts, piece.start) - 1
            if at < 0 or piece.start > rows[at].end:
                yield piece
        yield from reversed(boxed)

    def _rows(self, block: Block) -> Iterator[Row]:
        """The lines of boxes, and those that open one."""
        at, data = 0, block.data
        while at < len(data):
            if self._indent is None:
                marks = [mark for mark in (data.find(opener, at) for opener in _OPENERS) if mark >= 0]
                if not marks:
                    return
                at = data.rfind(b"\n", 0, min(marks)) + 1
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            if (row := self._row(at, end, clean(data[at : min(end, at + WINDOW)]).rstrip(b"\r"))) is not None:
                yield row
            at = end + 1

    def _row(self, start: int, end: int, line: bytes) -> Row | None:
        width = len(line.decode("utf-8", "replace"))
        if found := _MARK.match(line):
            self._indent = len(found["indent"]) + _MARK_WIDTH
            return Row(start, end, line, width)
        if self._indent is None:
            return None
        text = _BAR.sub(rb"\1 ", line, count=1)
        blanks = min(len(text) - len(text.lstrip(b" ")), self._indent)
        if text.strip() and blanks < self._indent - _LESS:
            self._indent = None
            return None
        return Row(start, end, text[blanks:], width)


def _pieces(rows: Sequence[Row], block: Block, patterns: Patterns) -> Iterator[Piece]:
    """The pieces of the rows, and of the lines that uv broke."""
    feeds, counted = 0, 0
    numbers = _numbers(rows, patterns)
    width = max([_NARROWEST, *(row.width for row in rows if b" " in row.text.strip())])  # one word may be wider
    for index, row in enumerate(rows):
        feeds, counted = feeds + block.data.count(b"\n", counted, row.start), row.start
        raw = block.data[row.start : row.end]
        if numbers[index]:
            is_traceback = compile_pattern(TRACEBACK).search(row.text)  # it is read on by the indentation
            yield Piece(row.start, row.end, raw, clean(raw) if is_traceback else row.text, feeds, numbers[index])
        whole = _joined(rows, index, width)
        if across := _numbers_across(whole, len(row.text), patterns):
            yield Piece(row.start, row.end, raw, whole, feeds, across)


def _numbers(rows: Sequence[Row], patterns: Patterns) -> list[frozenset[int]]:
    """The numbers of the patterns that may match in each row."""
    ends, total = [], 0
    for row in rows:
        total += len(row.text) + 1
        ends.append(total)
    found: list[set[int]] = [set() for _ in rows]
    for at, number in patterns.engine.places(b"\n".join(row.text for row in rows)):
        found[bisect_right(ends, at)].add(number)
    return [frozenset(one) for one in found]


def _joined(rows: Sequence[Row], index: int, width: int) -> bytes:
    """The row and those that go on with it: the first word of each had no room in the row above."""
    whole = rows[index].text
    for above, row in zip(rows[index : index + _MOST_JOINED], rows[index + 1 :], strict=False):
        word = row.text.partition(b" ")[0].decode("utf-8", "replace")
        if row.start != above.end + 1 or not word or above.width + 1 + len(word) <= width:
            break
        whole += b" " + row.text
    return whole


def _numbers_across(whole: bytes, seam: int, patterns: Patterns) -> frozenset[int]:
    """The signatures whose match begins in the first row and ends in a later one."""
    if len(whole) == seam:
        return frozenset()
    numbers = {number for _, number in patterns.engine.places(whole)} & patterns.entries_of.keys()
    return frozenset(
        number for number, match in patterns.matches(numbers, whole).items() if match.start() < seam < match.end()
    )
