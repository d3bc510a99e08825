"""Finds the blocks of a plain file by reading only near their ends, so that each thread can read its own block."""

import os
from collections.abc import Iterator

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.read.blocks import SIZE, Block, last_line_end
from skyrl_doctor.logs.read.noise import OVERLAP

_TAIL = 1 << 12
"""Bytes that are read where a block may end; most lines are shorter."""


@record
class Span:
    """The position of a block in a file."""

    descriptor: int
    start: int
    end: int
    fresh: bool
    cut: bool

    def read(self) -> Block:
        """Read the block. A file that became shorter ends early."""
        data = _read(self.descriptor, self.end - self.start, self.start)
        return Block(self.start, data, self.fresh, self.cut)


def find_spans(
    descriptor: int, size: int = SIZE + OVERLAP, overlap: int = OVERLAP, tail: int = _TAIL
) -> Iterator[Span]:
    """Yield the same blocks that Blocks makes of the same bytes."""
    start, fresh, tail = 0, True, min(tail, size)
    while True:
        begun = start + size - tail
        last = _read(descriptor, tail, begun)
        if len(last) < tail:
            break
        after = last_line_end(last, 0, tail)
        if not after:
            begun, last = start, _read(descriptor, size, start)
            after = last_line_end(last, 0, len(last))
        end = begun + after if after else start + size
        yield Span(descriptor, start, end, fresh, cut=not after)
        start, fresh = (end, last[after - 1 : after] == b"\n") if after else (end - overlap, False)
    yield Span(descriptor, start, start + size, fresh, cut=False)


def _read(descriptor: int, count: int, at: int) -> bytes:
    """Read so many bytes at a position; fewer only at the end of the file."""
    data = os.pread(descriptor, count, at)
    while 0 < len(data) < count and (more := os.pread(descriptor, count - len(data), at + len(data))):
        data += more
    return data
