"""A line of a log as it is reported: its file, number, text and clock, and the lines around it."""

import dataclasses

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.frames import innermost_frame, last_frame, own_frame
from skyrl_doctor.logs.judge.lookback import LastMatch, Lookback
from skyrl_doctor.logs.match.pieces import Piece
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.clock import CLOCK, Clock, first_clock, parse_clock
from skyrl_doctor.logs.read.noise import clean

CONTEXT = 3
"""Lines that are kept above and below a line."""
MAX_TEXT = 400
_CONTEXT_BYTES = 1 << 12
_FRAME_BYTES = 1 << 14
"""The text above a line in which its traceback is searched: one through a library has many frames."""


@record(kw_only=True)
class Line:
    """A line and its numbered neighbours.

    frame   where in the code the error was raised, if a traceback shows it, a library included
    caller  the innermost frame outside of libraries that only pass an error on, where `frame` is in one
    own     the innermost frame in a file of the user, where both are in a library
    """

    file: str
    order: int
    number: int
    text: str
    clock: Clock | None
    frame: str = ""
    caller: str = ""
    own: str = ""
    context: tuple[tuple[int, str], ...] = ()


def decode(text: bytes) -> str:
    """The text of a line, shortened where it is long."""
    line = text.decode("utf-8", "replace").strip()
    return line if len(line) <= MAX_TEXT else f"{line[:MAX_TEXT]} [… {len(line) - MAX_TEXT} more]"


def frames_above(above: bytes, process: bytes) -> tuple[str, str, str]:
    """The `frame`, `caller` and `own` of a line with this traceback above it. None is named twice."""
    frame, caller, own = (find(above, process) for find in (innermost_frame, last_frame, own_frame))
    return frame, "" if caller == frame else caller, "" if own in (frame, caller) else own


def clock_before(clocks: LastMatch, lookback: Lookback, end: int) -> Clock | None:
    """The last clock before a position, if it is near enough."""
    found = clocks.before(lookback, end)
    return parse_clock(found[1]) if found else None


class LineBuilder:
    """Makes the lines of one file. The lines below one are added when their block has come."""

    def __init__(self, file: str, order: int) -> None:
        self._file, self._order = file, order
        self._clocks = LastMatch(CLOCK)
        self._below: dict[int, LinesBelow] = {}
        self._incomplete: list[int] = []

    def add_block(self, block: Block) -> None:
        """Add the first lines of a block to the lines that wait for them."""
        self._incomplete = [number for number in self._incomplete if not self._below[number].add_block(block)]

    def build(self, lookback: Lookback, block: Block, piece: Piece, number: int) -> Line:
        """The line of a piece, with the lines above it."""
        start, end = block.start + piece.start, block.start + piece.end
        if number not in self._below:
            self._below[number] = LinesBelow(number)
            if not self._below[number].add_block(block, piece.end):
                self._incomplete.append(number)
        text, above = decode(piece.text), lookback.text(start - _FRAME_BYTES, start)
        frame, caller, own = frames_above(above, piece.process)
        return Line(
            file=self._file,
            order=self._order,
            number=number,
            text=text,
            clock=first_clock(piece.text) or clock_before(self._clocks, lookback, end),
            frame=frame,
            caller=caller,
            own=own,
            context=(*_lines_above(lookback, start, number), (number, text)),
        )

    def build_last(
        self, lookback: Lookback, start: int, text: bytes, number: int, below: tuple[tuple[int, str], ...]
    ) -> Line:
        """The line of a text that starts there, in a file that is read to its end; `below` are the lines below it."""
        return Line(
            file=self._file,
            order=self._order,
            number=number,
            text=decode(text),
            clock=first_clock(text) or clock_before(LastMatch(CLOCK), lookback, start),
            context=(*_lines_above(lookback, start, number), (number, decode(text)), *below[:CONTEXT]),
        )

    def complete(self, line: Line) -> Line:
        """The line with the lines below it that have come by now."""
        return dataclasses.replace(line, context=(*line.context, *self._below[line.number].lines))


class LinesBelow:
    """The lines below one, out of its block or later ones; of a progress bar, its first state."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.lines: list[tuple[int, str]] = []

    def add_block(self, block: Block, at: int = 0) -> bool:
        """Read on in the block from that position; return whether all lines are there."""
        if at or not block.fresh:
            at = block.data.find(b"\n", at) + 1
            if not at:
                return False
        while 0 <= at < len(block.data) and len(self.lines) < CONTEXT:
            end = block.data.find(b"\n", at)
            raw = block.data[at : end if end >= 0 else at + _CONTEXT_BYTES]
            self._number += 1
            self.lines.append((self._number, decode(clean(raw.partition(b"\r")[0][:_CONTEXT_BYTES]))))
            at = end + 1 if end >= 0 else -1
        return len(self.lines) == CONTEXT


def _lines_above(lookback: Lookback, start: int, number: int) -> tuple[tuple[int, str], ...]:
    """The lines above the one that starts there; of a progress bar, its last state."""
    above = lookback.text(start - _CONTEXT_BYTES, start).split(b"\n")[:-1][-CONTEXT:]
    states = [raw.rstrip(b"\r").rpartition(b"\r")[2] for raw in above]
    return tuple((number - len(above) + at, decode(clean(raw))) for at, raw in enumerate(states))
