"""The texts that are looked for in place of a pattern: of all that its matches must hold, those that ordinary lines hold least.

Hyperscan goes by the last eight letters of a text and by pairs of them, so what counts is how rare the end of it is. A text
is as good as any longer one, and so it ends where its end is rarest.
"""

import functools
import math
from collections import Counter

from skyrl_doctor.logs.match.ordinary_lines import LINES
from skyrl_doctor.logs.match.spellings import Texts, shortest, spelled

_SHORTEST = 5
_CUT = 8
_END = 4
_EACH = 0.001


def rare(pattern: str) -> Texts:
    """Each match holds one of these; empty where nothing that every match holds is rare."""
    found = [texts for texts in spelled(pattern) if shortest(texts) >= _SHORTEST]
    cut = [_fewest(frozenset(map(_cut, texts))) for texts in found]
    known = [texts for texts in cut if not any(text in LINES for text in texts)]
    return min(known, key=lambda texts: (sum(map(_cost, texts)), sorted(texts)), default=frozenset())


def _fewest(texts: Texts) -> Texts:
    """Without those that hold another."""
    return frozenset(text for text in texts if not any(other in text for other in texts - {text}))


def _cut(text: str) -> str:
    """Its beginning, up to where the end of that is rare."""
    return min(
        (text[:end] for end in range(min(_CUT, len(text)), len(text) + 1)),
        key=lambda head: (head in LINES, _cost(head)),
    )


@functools.cache
def _cost(text: str) -> float:
    """How often the end of the text, and the pairs of letters before it, come in ordinary lines."""
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
