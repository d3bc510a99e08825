"""Cuts chunks of bytes into blocks of complete lines. The blocks do not depend on where the chunks end."""

from collections.abc import Callable, Iterator

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.read.noise import OVERLAP, WINDOW

SIZE = 128 * WINDOW


@record
class Block:
    """Complete lines; a line longer than a block is cut at the end of a window.

    fresh  the block begins after a line feed
    cut    the last line continues in the next block, which repeats the last window of it
    """

    start: int
    data: bytes
    fresh: bool = True
    cut: bool = False


BlockReader = Callable[[], Block]
"""Reads one block; raises OSError where it cannot be read."""


class Blocks:
    """Collects chunks and yields blocks."""

    def __init__(self, windows: int = SIZE // WINDOW, window: int = WINDOW, overlap: int = OVERLAP) -> None:
        self._size, self._overlap = windows * window + overlap, overlap
        self._buffer = bytearray()
        self._start = 0
        self._fresh = True

    def feed(self, chunk: bytes) -> Iterator[Block]:
        """Add a chunk and yield the blocks that are full."""
        self._buffer += chunk
        at = 0
        while len(self._buffer) - at >= self._size:
            end = last_line_end(self._buffer, at, at + self._size)
            cut = not end
            end = end or at + self._size
            yield self._block(at, end, cut=cut)
            at = end - self._overlap if cut else end
        self._drop(at)

    def flush(self) -> Iterator[Block]:
        """Yield all complete lines."""
        end = last_line_end(self._buffer, 0, len(self._buffer))
        if end:
            yield self._block(0, end, cut=False)
            self._drop(end)

    def finish(self) -> Iterator[Block]:
        """Yield the rest, an incomplete last line included."""
        if self._buffer:
            yield self._block(0, len(self._buffer), cut=False)
            self._drop(len(self._buffer))

    def _drop(self, count: int) -> None:
        self._start += count
        del self._buffer[:count]

    def _block(self, at: int, end: int, *, cut: bool) -> Block:
        block = Block(self._start + at, bytes(memoryview(self._buffer)[at:end]), self._fresh, cut)
        self._fresh = block.data.endswith(b"\n")
        return block


def last_line_end(data: bytes | bytearray, start: int, end: int) -> int:
    """The position after the last end of a line; 0 where there is none."""
    return max(data.rfind(b"\n", start, end), data.rfind(b"\r", start, end)) + 1
