"""Spells out a pattern: all texts that a stretch of it can match. `[Nn]o (?:free|more)` matches one of four texts."""

import re
from collections.abc import Iterable, Iterator
from re import _constants as constants  # type: ignore[attr-defined]  # the parser of `re` has no public name
from re import _parser as parser  # type: ignore[attr-defined]
from string import digits
from typing import Any

_MOST = 24
"""A stretch with more texts than this is split."""
_MOST_AFTER_DIGIT = 60
_NOTHING = frozenset({""})
Texts = frozenset[str]


def spell_out(pattern: str) -> Iterator[Texts]:
    """Yield sets of texts; each match holds a text of each set."""
    parsed = parser.parse(pattern)
    if not parsed.state.flags & re.IGNORECASE:
        yield from (texts for texts in _stretches(parsed) if "" not in texts)


def _stretches(parts: Iterable[Any]) -> Iterator[Texts]:
    texts, after_digit = _NOTHING, False
    for part in parts:
        more = _texts(part)
        if more is not None and len(texts) * len(more) <= _MOST:
            texts = _joined(texts, more)
            continue
        yield from _ended(texts, after_digit=after_digit)
        texts, after_digit = more or _NOTHING, False
        if more is None:
            yield from _within(part)
            after_digit = _ends_in_digit(part)
    yield from _ended(texts, after_digit=after_digit)


def _ended(texts: Texts, *, after_digit: bool) -> Iterator[Texts]:
    """Yield a stretch as it is, and with the digit before it: that makes a common text rare."""
    yield texts
    if after_digit and len(texts) * len(digits) <= _MOST_AFTER_DIGIT and "" not in texts:
        yield _joined(frozenset(digits), texts)


def _ends_in_digit(part: Any) -> bool:
    kind, value = part
    repeated = kind in (constants.MAX_REPEAT, constants.MIN_REPEAT) and value[0] > 0 and len(value[2]) == 1
    (kind, value) = value[2][0] if repeated else part
    return kind is constants.IN and list(value) == [(constants.CATEGORY, constants.CATEGORY_DIGIT)]


def _texts(part: Any) -> Texts | None:
    """All texts that a part can match; None where they are too many, or not certain."""
    kind, value = part
    if kind is constants.LITERAL:
        return frozenset({chr(value)})
    if kind is constants.AT:
        return _NOTHING
    if kind is constants.IN:
        return _letters(value)
    if kind is constants.SUBPATTERN and not value[1] & re.IGNORECASE:
        return _all(value[3])
    if kind is constants.BRANCH:
        found = [_all(branch) for branch in value[1]]
        return None if None in found else _limited(frozenset().union(*(texts for texts in found if texts)))
    if kind in (constants.MAX_REPEAT, constants.MIN_REPEAT) and value[:2] == (0, 1):
        once = _all(value[2])
        return once and once | _NOTHING
    return None


def _all(parts: Iterable[Any]) -> Texts | None:
    texts = _NOTHING
    for part in parts:
        more = _texts(part)
        if more is None or len(texts) * len(more) > _MOST:
            return None
        texts = _joined(texts, more)
    return texts


def _letters(members: Iterable[Any]) -> Texts | None:
    found: set[str] = set()
    for kind, value in members:
        if kind is constants.LITERAL:
            found.add(chr(value))
        elif kind is constants.RANGE and value[1] - value[0] < _MOST:
            found |= {chr(one) for one in range(value[0], value[1] + 1)}
        else:
            return None
    return _limited(frozenset(found))


def _within(part: Any) -> Iterator[Texts]:
    """The texts that each match of a part with too many texts holds."""
    kind, value = part
    if kind is constants.SUBPATTERN and not value[1] & re.IGNORECASE:
        yield from _stretches(value[3])
    elif kind in (constants.MAX_REPEAT, constants.MIN_REPEAT) and value[0] > 0:
        yield from _stretches(value[2])
    elif kind is constants.BRANCH:
        best = [max(_stretches(branch), key=min_length) for branch in value[1]]
        yield frozenset().union(*best)


def min_length(texts: Texts) -> int:
    """The length of the shortest text."""
    return min(map(len, texts))


def _joined(heads: Texts, tails: Texts) -> Texts:
    return frozenset(head + tail for head in heads for tail in tails)


def _limited(texts: Texts) -> Texts | None:
    return texts if 0 < len(texts) <= _MOST else None
