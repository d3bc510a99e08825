"""Groups similar lines: the words that differ between them become a star.

The method is that of Drain (He et al., 2017): lines with equally many words and the same first word are similar if they
share most of the others. drain3 itself groups worse here and takes longer to load: see ADR 10.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from skyrl_doctor.core.record import record

STAR = "*"
_MAX_CLUSTERS, _MAX_WORDS, _MAX_LETTERS = 200, 60, 400
_MIN_SIMILARITY = 0.6
_FEW_WORDS = 3
"""Up to so many compared words must all be equal."""
_VARIABLE = re.compile(
    r"""'[^']*'|"[^"]*"|\w+://\S+|/[\w.@+-]+(?:/[\w.@+-]*)*|[\[(]-?\d[^\[\]()]{0,200}[\])]|\b[0-9a-f]{12,}\b"""
)
_CODE_WORD = re.compile(r"(?i)^\W*(?:errno|http/1\.1\"?|status|code|signal|exit)\W*$")
"""The number after such a word is a code, and part of what the line says."""
_NUMBER = re.compile(r"\d")
_LONG = re.compile(rb"\b[0-9a-f]{12,}\b")
_NUMBERS = re.compile(rb"(?<!\S)[A-Za-z_.:,=+%-]*\d[\w.:,=+%-]*(?!\S)")
_CODE_WORDS = (b"errno", b"http/1", b"status", b"code", b"signal", b"exit")


@record
class Cluster:
    """The template of similar lines, their count, the numbers of the first and the last line, and the first one's text."""

    template: str
    count: int
    first: int
    last: int
    sample: str = ""


class _Group:
    def __init__(self, words: list[str], number: int, sample: str) -> None:
        self.words, self.count, self.first, self.last, self.sample = words, 0, number, number, sample

    def add(self, words: list[str], number: int) -> None:
        self.words = [old if old == new else STAR for old, new in zip(self.words, words, strict=True)]
        self.count, self.last = self.count + 1, number


class Clusters:
    """Groups lines one by one. When there are too many clusters, no new one is made."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []
        self._by_kind: dict[tuple[str, ...], list[int]] = {}

    def add(self, text: str, number: int) -> int | None:
        """Add a line; return the number of its cluster, None if it has none."""
        words = split(text)
        similar = self._by_kind.setdefault(_kind(words), [])
        best = max(similar, key=lambda at: _similarity(self._groups[at].words, words), default=None)
        if best is None or _similarity(self._groups[best].words, words) < _MIN_SIMILARITY:
            if len(self._groups) >= _MAX_CLUSTERS:
                return None
            best = len(self._groups)
            similar.append(best)
            self._groups.append(_Group(words, number, text[:_MAX_LETTERS]))
        self._groups[best].add(words, number)
        return best

    def __getitem__(self, at: int) -> Cluster:
        group = self._groups[at]
        return Cluster(" ".join(group.words), group.count, group.first, group.last, group.sample)

    def __iter__(self) -> Iterator[Cluster]:
        return (self[at] for at in range(len(self._groups)))


def form(raw: bytes) -> bytes:
    """The form of a raw line: lines of equal form have equal words."""
    small = raw.lower()
    return raw if any(word in small for word in _CODE_WORDS) else _NUMBERS.sub(b"0", _LONG.sub(b"*", raw))


def split(text: str) -> list[str]:
    """The words of a line, with stars for those that vary."""
    words = _VARIABLE.sub(STAR, text[:_MAX_LETTERS]).split()[:_MAX_WORDS]
    return [_generalised(word, words[at - 1] if at else "") for at, word in enumerate(words)]


def _generalised(word: str, before: str) -> str:
    if STAR in word or _CODE_WORD.match(before) or not _NUMBER.search(word):
        return word
    return STAR


def _kind(words: list[str]) -> tuple[str, ...]:
    """What the lines of one cluster share: the number of words, the first word, and the codes."""
    return (str(len(words)), *words[:1], *(word for before, word in pairwise(words) if _CODE_WORD.match(before)))


def _similarity(template: list[str], words: list[str]) -> float:
    """The share of equal words among those that are not stars."""
    both = [old == new for old, new in zip(template, words, strict=True) if STAR not in (old, new)]
    if len(both) <= _FEW_WORDS:
        return float(all(both))
    return sum(both) / len(both)
