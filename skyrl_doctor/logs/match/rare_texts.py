"""Chooses the texts that Hyperscan searches for in place of a pattern: those that ordinary lines hold least.

Hyperscan compares the last eight letters of a text, and pairs of them, so the end of a text must be rare. A text may be
cut: it ends where its end is rarest.
"""

import functools
import math
from collections import Counter

from skyrl_doctor.logs.match.ordinary_lines import LINES
from skyrl_doctor.logs.match.spellings import Texts, min_length, spell_out

_SHORTEST = 5
_CUT = 8
_END = 4
_EACH = 0.001


def find_rare_texts(pattern: str) -> Texts:
    """Texts of which each match holds one; empty where no text that every match holds is rare."""
    found = [texts for texts in spell_out(pattern) if min_length(texts) >= _SHORTEST]
    cut = [_fewest(frozenset(map(_cut, texts))) for texts in found]
    rare = [texts for texts in cut if not any(text in LINES for text in texts)]
    return min(rare, key=lambda texts: (sum(map(_cost, texts)), sorted(texts)), default=frozenset())


def _fewest(texts: Texts) -> Texts:
    """The texts without those that contain another one."""
    return frozenset(text for text in texts if not any(other in text for other in texts - {text}))


def _cut(text: str) -> str:
    """The beginning of the text that has the rarest end."""
    return min(
        (text[:end] for end in range(min(_CUT, len(text)), len(text) + 1)),
        key=lambda head: (head in LINES, _cost(head)),
    )


@functools.cache
def _cost(text: str) -> float:
    """How often ordinary lines hold the end of the text and the pairs of letters before it."""
    end = text[-_CUT:]
    pairs = (
        math.prod(map(_share, (end[at : at + 2] for at in range(first, len(end) - 1, 2)))) ** 0.5 for first in (0, 1)
    )
    return _share(end[-_END:]) * 4 + _share(end[1 - _END :]) + sum(pairs) + _EACH


def _share(text: str) -> float:
    return (_counts(len(text))[text] + 0.5) / len(LINES)


@functools.cache
def _counts(length: int) -> Counter[str]:
    return Counter(LINES[at : at + length] for at in range(len(LINES)))
