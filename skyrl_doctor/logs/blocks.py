"""Bytes as they come into blocks of whole lines. Where a block ends depends on the bytes alone, never on their chunks."""

import re
from collections.abc import Iterator

from skyrl_doctor.core.record import record

SIZE = 1 << 18
OVERLAP = 1 << 10
"""A line longer than a block is cut; the next piece repeats this much, so that no text is lost in a cut."""

_NOISE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\^_])|\x00+")


@record
class Block:
    """Text without colour codes and NUL; `line` is the number of its first line, counted in line feeds from 1."""

    line: int
    text: bytes


class Blocks:
    """Collects chunks and gives blocks."""

    def __init__(self, size: int = SIZE, overlap: int = OVERLAP) -> None:
        self._size, self._overlap = size, overlap
        self._buffer = bytearray()
        self._line = 1

    def feed(self, chunk: bytes) -> Iterator[Block]:
        self._buffer += chunk
        while len(self._buffer) >= self._size:
            end = max(self._buffer.rfind(b"\n", 0, self._size), self._buffer.rfind(b"\r", 0, self._size)) + 1
            yield self._take(end, 0) if end else self._take(self._size, self._overlap)

    def finish(self) -> Iterator[Block]:
        if self._buffer:
            yield self._take(len(self._buffer), 0)

    def _take(self, end: int, kept: int) -> Block:
        raw = bytes(self._buffer[:end])
        del self._buffer[: end - kept]
        block = Block(self._line, clean(raw))
        self._line += raw.count(b"\n")
        return block


def clean(raw: bytes) -> bytes:
    return _NOISE.sub(b"", raw) if b"\x1b" in raw or b"\x00" in raw else raw
