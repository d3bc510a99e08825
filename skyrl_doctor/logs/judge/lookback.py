"""The text above the line that is judged, and the last place where a pattern matched in it.

A line is judged by the text before it, wherever the blocks end.
"""

import functools
import re
from collections import Counter, deque

from skyrl_doctor.core.signature import Signature
from skyrl_doctor.logs.match.literals import literals
from skyrl_doctor.logs.match.patterns import compile_pattern, is_far
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.noise import OVERLAP

REACH = 1 << 16
"""Bytes of text that are kept before the current block."""
_FIRST_STEP, _MARGIN = 1 << 9, 1 << 7
"""A search back begins with so many bytes and doubles them; the margin is for patterns that look at the text before a match."""
ABOVE_LINES = 16
"""So many lines above a match `unless_above` counts."""
_ABSENCE_CHECK = 32
"""After so many questions for one pattern in one block, the whole text is searched for it once."""


class Lookback:
    """The current block and the text before it, by position in the file."""

    def __init__(self) -> None:
        self._block = Block(0, b"")
        self._kept = b""

    def add_block(self, block: Block) -> None:
        """Make this the current block; the end of the text before it is kept."""
        length = block.start - self._block.start
        more = self._block.data[max(0, length - REACH) : length]
        self._kept = more if len(more) == REACH else (self._kept + more)[-REACH:]
        self._block = block

    @property
    def block_start(self) -> int:
        """The position of the current block in the file."""
        return self._block.start

    @property
    def end(self) -> int:
        """The position after the current block."""
        return self._block.start + len(self._block.data)

    def full_text(self) -> bytes:
        """All text that is kept, the current block included."""
        return self._kept + self._block.data

    def text(self, start: int, end: int) -> bytes:
        """The text between two positions of the file, at most REACH bytes long."""
        block_start, kept = self._block.start, self._kept
        first = max(start, end - REACH, block_start - len(kept)) - block_start
        within = self._block.data[max(0, first) : max(0, end - block_start)]
        return kept[len(kept) + first : len(kept) + end - block_start] + within if first < 0 else within


class LastMatch:
    """The last match of a pattern before a position. Positions must grow: then no text is searched twice."""

    def __init__(self, regex: re.Pattern[bytes]) -> None:
        self._regex = regex
        self._searched = 0
        self._found: tuple[int, re.Match[bytes]] | None = None

    def before(self, lookback: Lookback, end: int) -> tuple[int, re.Match[bytes]] | None:
        """The end position of the last match that begins within REACH before `end`, and the match."""
        first, start, step = max(self._searched, end - REACH, 0), end, _FIRST_STEP
        self._searched = max(self._searched, end)
        while start > first:
            stop, start, step = min(end, start + OVERLAP), max(first, start - step), 2 * step
            text = lookback.text(start - _MARGIN, stop)
            found = deque(self._regex.finditer(text, max(0, len(text) - (stop - start))), maxlen=1)
            if found:
                self._found = (stop - len(text) + found[0].end(), found[0])
                break
        return self._found if self._found and self._found[0] >= end - REACH else None


class NearPatterns:
    """How many lines above a line the `near` pattern of a signature matched. Positions must grow."""

    def __init__(self) -> None:
        self._far_lines: dict[str, int] = {}
        self._last_matches: dict[str, LastMatch] = {}
        self._questions: Counter[str] = Counter()
        self._absent: set[str] = set()

    def start_block(self) -> None:
        """Forget what is known of the block before."""
        self._questions.clear()
        self._absent.clear()

    def record_far(self, pattern: str, number: int) -> None:
        """Note the line of a pattern that the engine searches for everywhere."""
        self._far_lines[pattern] = number

    def distance(self, signature: Signature, lookback: Lookback, end: int, number: int) -> int | None:
        """Lines between the near pattern and the line that ends at `end`; None where it is not within the limit."""
        near = signature.near
        if signature.unless_above and self._stands_above(signature.unless_above, lookback, end):
            return None
        if not near:
            return 0
        if near in self._absent and end > lookback.block_start + OVERLAP:
            return None
        if is_far(signature):
            line = self._far_lines.get(near)
            return None if line is None or number - line > signature.within else number - line
        if self._is_absent(near, lookback, end):
            return None
        lines = self._lines_above(near, lookback, end)
        return lines if lines is not None and lines <= signature.within else None

    def _stands_above(self, pattern: str, lookback: Lookback, end: int) -> bool:
        if self._is_absent(pattern, lookback, end):
            return False
        lines = self._lines_above(pattern, lookback, end)
        return lines is not None and lines <= ABOVE_LINES

    def _lines_above(self, pattern: str, lookback: Lookback, end: int) -> int | None:
        found = self._last_matches.setdefault(pattern, LastMatch(compile_pattern(pattern))).before(lookback, end)
        return lookback.text(found[0], end).count(b"\n") if found else None

    def _is_absent(self, near: str, lookback: Lookback, end: int) -> bool:
        """Whether no match can be in the kept text. A match began within REACH and is not wider than OVERLAP."""
        self._questions[near] += 1
        if self._questions[near] == _ABSENCE_CHECK and (texts := _literals(near)):
            text = lookback.full_text()
            if not any(literal in text for literal in texts):
                self._absent.add(near)
        return near in self._absent and end > lookback.block_start + OVERLAP


@functools.cache
def _literals(pattern: str) -> tuple[bytes, ...]:
    return tuple(text.encode() for text in literals(pattern))
