"""The last of what was read: as much of a log as a line is judged by, wherever its blocks end."""

import re
from collections import deque

from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.noise import OVERLAP

REACH = 1 << 16
_STEP, _MORE = 1 << 9, 1 << 7
"""So far back it looks first, then twice as far, and so on; with a little more, for what a match looks at before it."""


class Behind:
    """Text by its place in the file, as far as REACH before the block that is being read."""

    def __init__(self) -> None:
        self._block = Block(0, b"")
        self._kept = b""

    def take(self, block: Block) -> None:
        """The next block; of what was before, the end is kept."""
        length = block.start - self._block.start
        more = self._block.data[max(0, length - REACH) : length]
        self._kept = more if len(more) == REACH else (self._kept + more)[-REACH:]
        self._block = block

    @property
    def begun(self) -> int:
        """Where the block begins that is being read."""
        return self._block.start

    def all(self) -> bytes:
        """The block and what is kept of the text before it."""
        return self._kept + self._block.data

    def text(self, start: int, end: int) -> bytes:
        """From one place of the file to another, not further back than REACH before the other."""
        begun, kept = self._block.start, self._kept
        first = max(start, end - REACH, begun - len(kept)) - begun
        within = self._block.data[max(0, first) : max(0, end - begun)]
        return kept[len(kept) + first : len(kept) + end - begun] + within if first < 0 else within


class Sighting:
    """Where a pattern stood last. Asked for growing places, it looks at little text twice, and at most of it never."""

    def __init__(self, regex: re.Pattern[bytes]) -> None:
        self._regex = regex
        self._looked = 0
        self._found: tuple[int, re.Match[bytes]] | None = None

    def last(self, behind: Behind, end: int) -> tuple[int, re.Match[bytes]] | None:
        """The place after the last match that begins within REACH before `end`, and the match."""
        first, start, step = max(self._looked, end - REACH, 0), end, _STEP
        self._looked = max(self._looked, end)
        while start > first:
            stop, start, step = min(end, start + OVERLAP), max(first, start - step), 2 * step
            text = behind.text(start - _MORE, stop)
            found = deque(self._regex.finditer(text, max(0, len(text) - (stop - start))), maxlen=1)
            if found:
                self._found = (stop - len(text) + found[0].end(), found[0])
                break
        return self._found if self._found and self._found[0] >= end - REACH else None
