"""What every search engine shares: it finds the places of a block where patterns may match.

An engine may name too many places and never too few: Python's `re` then decides on the clean line. So engines differ in
speed only.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from skyrl_doctor.logs.read.noise import noisy_parts, strip_noise

Place = tuple[int, int]
"""The position of a byte within the match, and the number of the pattern."""
FEED_INTERVAL = 60
"""An engine reports the position of every so many line feeds. To count all of them takes a third of the time of the search,
and holds Python's lock."""
Frequent = Mapping[int, re.Pattern[bytes]]
"""Patterns for which the search may report one place a block, and what finds them in a clean line."""
NO_FREQUENT: Frequent = {}
_INNER = r"(?:[^()\\]|\\.)"
LOOKAHEAD = re.compile(rf"\(\?[=!](?:{_INNER}|\((?:{_INNER}|\({_INNER}*\))*\))*\)")


class Engine(Protocol):
    """Searches blocks for a fixed list of patterns. Threads may share one."""

    def places(self, data: bytes) -> list[Place]:
        """The places where the patterns may match, in order.

        A frequent pattern may have one place for all its matches, except those that only a clean line shows.
        """
        ...

    def feed_ends(self, data: bytes, /) -> Sequence[int]:
        """The positions after every FEED_INTERVAL line feeds, or nothing where counting is as fast."""
        ...


class Search(Protocol):
    """Finds patterns in raw bytes. The number after the last pattern stands for noise within text."""

    def __call__(self, data: bytes) -> Iterable[Place]: ...


def find_places(search: Search, count: int, data: bytes, frequent: Frequent = NO_FREQUENT) -> list[Place]:
    """The places in the raw text, and those in lines where noise splits the text. `count` is the number of patterns."""
    found = list(search(data))
    noisy = [at for at, number in found if number == count]
    if not noisy:
        found.sort()
        return found
    kept = [place for place in found if place[1] != count]
    kept += _places_in_parts(search, count, data, list(noisy_parts(data, noisy)), frequent)
    kept.sort()
    return kept


def _places_in_parts(
    search: Search, count: int, data: bytes, parts: Sequence[tuple[int, int]], frequent: Frequent
) -> Iterator[Place]:
    """Search all parts at once, cleaned, one a line. A match lies somewhere between the ends of its part."""
    cleaned = [strip_noise(data[start:end]) for start, end in parts]
    ends, total = [], 0
    for piece in cleaned:
        total += len(piece) + 1
        ends.append(total)
    index, found = 0, sorted(search(b"\n".join(cleaned)))
    for number in frequent.keys() & {number for _, number in found}:
        yield from (
            (start, number) for (start, _), piece in zip(parts, cleaned, strict=True) if frequent[number].search(piece)
        )
    for at, number in found:
        if number == count:
            continue
        while at >= ends[index]:
            index += 1
        start, end = parts[index]
        yield start, number
        yield max(start, end - 1), number


def loosen(pattern: str) -> str:
    """A cheaper pattern that matches at least as much: without anchors, lookahead and limits of gaps."""
    return re.sub(r"(?<!\\)\.\{\d*,\d+\}", ".*", unanchor(pattern))


def unanchor(pattern: str) -> str:
    """A pattern that matches at least as much, wherever in a text a line begins: without anchors and lookahead."""
    return re.sub(r"(?<![\\\[])\^|(?<!\\)\$", "", LOOKAHEAD.sub("", pattern))
