"""The blocks of a plain file, from its line ends alone: each is read by the thread that looks at it, and copied nowhere."""

import os
from collections.abc import Iterator

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.read.blocks import SIZE, Block, last_end
from skyrl_doctor.logs.read.noise import OVERLAP

_TAIL = 1 << 12
"""So much is read where a block may end; most lines are shorter."""


@record
class Span:
    """Where a block lies, before it is read."""

    descriptor: int
    start: int
    end: int
    fresh: bool
    cut: bool

    def read(self) -> Block:
        """A file that was cut meanwhile ends there."""
        data = _read(self.descriptor, self.end - self.start, self.start)
        return Block(self.start, data, self.fresh, self.cut)


def spans(descriptor: int, size: int = SIZE + OVERLAP, overlap: int = OVERLAP, tail: int = _TAIL) -> Iterator[Span]:
    """The same blocks that Blocks makes of the same bytes."""
    start, fresh, tail = 0, True, min(tail, size)
    while True:
        begun = start + size - tail
        last = _read(descriptor, tail, begun)
        if len(last) < tail:
            break
        after = last_end(last, 0, tail)
        if not after:
            begun, last = start, _read(descriptor, size, start)
            after = last_end(last, 0, len(last))
        end = begun + after if after else start + size
        yield Span(descriptor, start, end, fresh, cut=not after)
        start, fresh = (end, last[after - 1 : after] == b"\n") if after else (end - overlap, False)
    yield Span(descriptor, start, start + size, fresh, cut=False)


def _read(descriptor: int, count: int, at: int) -> bytes:
    """So many bytes from there on; fewer only at the end of the file."""
    data = os.pread(descriptor, count, at)
    while 0 < len(data) < count and (more := os.pread(descriptor, count - len(data), at + len(data))):
        data += more
    return data
