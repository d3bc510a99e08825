"""Finds where many patterns may stand in a block of text. Engines differ in speed only: what is found is looked at again.

An engine may say too much and never too little: each place that it names is judged by Python's `re` on the clean line.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from skyrl_doctor.logs.read.noise import odd_parts, uncoloured

Place = tuple[int, int]
"""A byte of the block that lies in the match, and the number of the pattern."""
EACH = 60
"""Of so many line feeds the place is kept: to count those of a block takes as long as a third of the search, under Python's lock."""
Often = Mapping[int, re.Pattern[bytes]]
"""Patterns of which the search names one place for all, and what finds them in a clean line."""
NOTHING: Often = {}
_INNER = r"(?:[^()\\]|\\.)"
LOOKS_AHEAD = re.compile(rf"\(\?[=!](?:{_INNER}|\((?:{_INNER}|\({_INNER}*\))*\))*\)")


class Engine(Protocol):
    def places(self, data: bytes) -> list[Place]:
        """Where the patterns may stand, in order. May be called from several threads at once.

        A pattern that it was told comes often may have one place for all, but for those that only a clean line shows.
        """
        ...

    def ends(self, data: bytes, /) -> Sequence[int]:
        """The places after each EACHth line feed, or none of them where it is not faster than to count."""
        ...


class Search(Protocol):
    """Finds patterns in bytes as they are; the number after the last pattern's is that of ODD."""

    def __call__(self, data: bytes) -> Iterable[Place]: ...


def places(search: Search, count: int, data: bytes, often: Often = NOTHING) -> list[Place]:
    """The places in the text as it is, and those in the lines that noise has parted."""
    found = list(search(data))
    odd = [at for at, number in found if number == count]
    if not odd:
        found.sort()
        return found
    kept = [place for place in found if place[1] != count]
    kept += _in_parts(search, count, data, list(odd_parts(data, odd)), often)
    kept.sort()
    return kept


def _in_parts(
    search: Search, count: int, data: bytes, parts: Sequence[tuple[int, int]], often: Often
) -> Iterator[Place]:
    """All parts at once, cleaned, one a line; a match lies somewhere between the ends of its part."""
    cleaned = [uncoloured(data[start:end]) for start, end in parts]
    ends, total = [], 0
    for piece in cleaned:
        total += len(piece) + 1
        ends.append(total)
    index, found = 0, sorted(search(b"\n".join(cleaned)))
    for number in often.keys() & {number for _, number in found}:
        yield from (
            (start, number) for (start, _), piece in zip(parts, cleaned, strict=True) if often[number].search(piece)
        )
    for at, number in found:
        if number == count:
            continue
        while at >= ends[index]:
            index += 1
        start, end = parts[index]
        yield start, number
        yield max(start, end - 1), number


def loose(pattern: str) -> str:
    """A pattern that matches wherever this one does, and is cheaper: without anchors, looks ahead and limits of gaps."""
    pattern = LOOKS_AHEAD.sub("", pattern)
    pattern = re.sub(r"(?<!\\)\.\{\d*,\d+\}", ".*", pattern)
    return re.sub(r"(?<![\\\[])\^|(?<!\\)\$", "", pattern)
