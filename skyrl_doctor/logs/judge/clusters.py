"""Lines that say the same of different things: what changes from one to the next is a star.

In the manner of Drain (He et al., 2017): of lines with as many words and the same first word, those are alike that share
most of the others. drain3 itself groups worse here and takes longer to load: see ADR 10.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from skyrl_doctor.core.record import record

STAR = "*"
_MOST, _WORDS, _LETTERS = 200, 60, 400
_ALIKE = 0.6
_SHORT = 3
"""So few words say too little to be told apart by one of them."""
_CHANGING = re.compile(
    r"""'[^']*'|"[^"]*"|\w+://\S+|/[\w.@+-]+(?:/[\w.@+-]*)*|[\[(]-?\d[^\[\]()]{0,200}[\])]|\b[0-9a-f]{12,}\b"""
)
_TELLING = re.compile(r"(?i)^\W*(?:errno|http/1\.1\"?|status|code|signal|exit)\W*$")
"""The number after such a word is what the line says."""
_NUMBER = re.compile(r"\d")
_LONG = re.compile(rb"\b[0-9a-f]{12,}\b")
_NUMBERS = re.compile(rb"(?<!\S)[A-Za-z_.:,=+%-]*\d[\w.:,=+%-]*(?!\S)")
_MAY_TELL = (b"errno", b"http/1", b"status", b"code", b"signal", b"exit")


@record
class Cluster:
    """How its lines read, how many there are, and the numbers of the first and the last of them."""

    template: str
    count: int
    first: int
    last: int


class _Group:
    def __init__(self, words: list[str], number: int) -> None:
        self.words, self.count, self.first, self.last = words, 0, number, number

    def take(self, words: list[str], number: int) -> None:
        self.words = [old if old == new else STAR for old, new in zip(self.words, words, strict=True)]
        self.count, self.last = self.count + 1, number


class Clusters:
    """Takes lines one by one. Beyond a number of clusters, what is new is not kept."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []
        self._like: dict[tuple[str, ...], list[int]] = {}

    def add(self, text: str, number: int) -> int | None:
        """The number of its cluster."""
        words = split(text)
        near = self._like.setdefault(_kind(words), [])
        best = max(near, key=lambda at: _likeness(self._groups[at].words, words), default=None)
        if best is None or _likeness(self._groups[best].words, words) < _ALIKE:
            if len(self._groups) >= _MOST:
                return None
            best = len(self._groups)
            near.append(best)
            self._groups.append(_Group(words, number))
        self._groups[best].take(words, number)
        return best

    def __getitem__(self, at: int) -> Cluster:
        group = self._groups[at]
        return Cluster(" ".join(group.words), group.count, group.first, group.last)

    def __iter__(self) -> Iterator[Cluster]:
        return (self[at] for at in range(len(self._groups)))


def form(raw: bytes) -> bytes:
    """What lines have in common that have the same words, but for numbers that the words leave out."""
    small = raw.lower()
    return raw if any(word in small for word in _MAY_TELL) else _NUMBERS.sub(b"0", _LONG.sub(b"*", raw))


def split(text: str) -> list[str]:
    """The words of a line, stars for what will be another the next time."""
    words = _CHANGING.sub(STAR, text[:_LETTERS]).split()[:_WORDS]
    return [_kept(word, words[at - 1] if at else "") for at, word in enumerate(words)]


def _kept(word: str, before: str) -> str:
    if STAR in word or _TELLING.match(before) or not _NUMBER.search(word):
        return word
    return STAR


def _kind(words: list[str]) -> tuple[str, ...]:
    """What lines of one cluster have in common for sure: how many words, the first, and the codes that they tell."""
    return (str(len(words)), *words[:1], *(word for before, word in pairwise(words) if _TELLING.match(before)))


def _likeness(known: list[str], words: list[str]) -> float:
    """The share of the words that both have, of those that are not stars."""
    both = [old == new for old, new in zip(known, words, strict=True) if STAR not in (old, new)]
    if len(both) <= _SHORT:
        return float(all(both))
    return sum(both) / len(both)
