"""The texts that a stretch of a pattern can stand for, spelled out: `[Nn]o (?:free|more)` is one of four."""

import re
from collections.abc import Iterable, Iterator
from re import _constants as constants  # type: ignore[attr-defined]  # the parser of `re` has no public name
from re import _parser as parser  # type: ignore[attr-defined]
from string import digits
from typing import Any

_MOST = 24
"""A stretch that stands for more texts than this is parted."""
_MOST_AFTER_DIGIT = 60
_NOTHING = frozenset({""})
Texts = frozenset[str]


def spelled(pattern: str) -> Iterator[Texts]:
    """Sets of texts. Each match holds a text of each set, whole."""
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
    """A stretch, as it is and with the digit before it, which makes much of a common text."""
    yield texts
    if after_digit and len(texts) * len(digits) <= _MOST_AFTER_DIGIT and "" not in texts:
        yield _joined(frozenset(digits), texts)


def _ends_in_digit(part: Any) -> bool:
    kind, value = part
    repeated = kind in (constants.MAX_REPEAT, constants.MIN_REPEAT) and value[0] > 0 and len(value[2]) == 1
    (kind, value) = value[2][0] if repeated else part
    return kind is constants.IN and list(value) == [(constants.CATEGORY, constants.CATEGORY_DIGIT)]


def _texts(part: Any) -> Texts | None:
    """All that the part can stand for; none where that is too much, or unsure."""
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
        return None if None in found else _few(frozenset().union(*(texts for texts in found if texts)))
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
    return _few(frozenset(found))


def _within(part: Any) -> Iterator[Texts]:
    """What a part that stands for too much holds for sure."""
    kind, value = part
    if kind is constants.SUBPATTERN and not value[1] & re.IGNORECASE:
        yield from _stretches(value[3])
    elif kind in (constants.MAX_REPEAT, constants.MIN_REPEAT) and value[0] > 0:
        yield from _stretches(value[2])
    elif kind is constants.BRANCH:
        best = [max(_stretches(branch), key=shortest) for branch in value[1]]
        yield frozenset().union(*best)


def shortest(texts: Texts) -> int:
    """The letters of the shortest."""
    return min(map(len, texts))


def _joined(heads: Texts, tails: Texts) -> Texts:
    return frozenset(head + tail for head in heads for tail in tails)


def _few(texts: Texts) -> Texts | None:
    return texts if 0 < len(texts) <= _MOST else None
