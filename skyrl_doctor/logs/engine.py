"""Finds many patterns in a block of whole lines. The seam for a faster engine: patterns in, lines and indexes out."""

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.literals import literals

_PREFIX = re.compile(r"\s*(?:\[[\w.-]+\]\s*)?\((?:[\w.:<>-]+ )*pid=\d+(?:, ip=[\w.:-]+)?\)\s?")
"""How Ray marks whose line it is: (TaskRunner pid=123, ip=10.0.0.1)."""


@record
class Found:
    """A line of the block, from start to end, that holds these patterns."""

    start: int
    end: int
    text: str
    patterns: tuple[int, ...]


class Engine(Protocol):
    def find(self, block: bytes) -> Iterator[Found]:
        """The lines that match, in order."""
        ...


class PrefilteredRe:
    """Python's own `re`, on the lines that hold a literal of the pattern."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._regexes = [re.compile(pattern) for pattern in patterns]
        self._by_literal: dict[bytes, list[int]] = {}
        self._always: list[int] = []
        for index, pattern in enumerate(patterns):
            texts = literals(pattern)
            for text in texts:
                self._by_literal.setdefault(text.encode(), []).append(index)
            if not texts:
                self._always.append(index)

    def find(self, block: bytes) -> Iterator[Found]:
        wanted: dict[int, set[int]] = {}
        for literal, indexes in self._by_literal.items():
            at = block.find(literal)
            while at >= 0:
                wanted.setdefault(_start(block, at), set()).update(indexes)
                at = block.find(literal, at + len(literal))
        if self._always:
            for start in _starts(block):
                wanted.setdefault(start, set()).update(self._always)
        for start in sorted(wanted):
            end = _end(block, start)
            text = line_text(block[start:end])
            matched = tuple(index for index in sorted(wanted[start]) if self._regexes[index].search(text))
            if matched:
                yield Found(start, end, text, matched)


def line_text(raw: bytes) -> str:
    """A line as people read it: decoded, without the prefix that Ray puts before it."""
    text = raw.decode("utf-8", "replace")
    return _PREFIX.sub("", text, count=1) if "pid=" in text[:200] else text


def _start(block: bytes, at: int) -> int:
    line = block.rfind(b"\n", 0, at) + 1
    return max(line, block.rfind(b"\r", line, at) + 1)


def _end(block: bytes, start: int) -> int:
    line = block.find(b"\n", start)
    line = len(block) if line < 0 else line
    progress = block.find(b"\r", start, line)
    return line if progress < 0 else progress


def _starts(block: bytes) -> Iterator[int]:
    start = 0
    while start < len(block):
        yield start
        start = _end(block, start) + 1
