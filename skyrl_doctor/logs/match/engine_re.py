"""The engine without libraries: searches for literals that every match must hold, in lines of a new form only.

Most lines of a log differ in their numbers alone. Without digits, a block of thousands of lines has a few forms, and whether
a form may match is found out once.
"""

import bisect
import itertools
import re
from collections.abc import Iterable, Sequence

from skyrl_doctor.logs.match.engine import Place
from skyrl_doctor.logs.match.literals import alternatives, literals
from skyrl_doctor.logs.read.noise import strip_noise, window_positions

_DIGITS = b"0123456789"
_LINE_ENDS = bytes.maketrans(b"\r", b"\n")
_MAX_FORMS = 1 << 15
"""Forms that are remembered."""
_MAX_FORM = 1 << 10
"""Bytes of a form that is remembered."""


class ReEngine:
    """The engine on Python's own string search."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._by_text: dict[bytes, tuple[int, ...]] = {}
        self._required = [[[_without_digits(some) for some in sets] for sets in alternatives(one)] for one in patterns]
        for number, pattern in enumerate(patterns):
            for text in _without_digits(literals(pattern) or {""}):
                self._by_text[text] = (*self._by_text.get(text, ()), number)
        self._remembered: dict[bytes, tuple[int, ...]] = {}

    def places(self, data: bytes) -> list[Place]:
        """See Engine."""
        forms = data.translate(_LINE_ENDS, _DIGITS).split(b"\n")
        remembered = self._remembered if len(self._remembered) < _MAX_FORMS else {}
        fresh = self._numbers([form for form in set(forms) if form not in remembered])
        remembered |= {form: numbers for form, numbers in fresh.items() if len(form) <= _MAX_FORM}
        self._remembered = remembered
        matching = {form: numbers for form in set(forms) if (numbers := fresh.get(form) or remembered.get(form))}
        return self._places(data, forms, matching) if matching else []

    def feed_ends(self, _: bytes) -> Sequence[int]:
        """Nothing: `bytes.count` is as fast."""
        return ()

    def _numbers(self, forms: list[bytes]) -> dict[bytes, tuple[int, ...]]:
        """The patterns that each form may match. All forms are searched at once, text by text."""
        texts = [strip_noise(form) for form in forms]
        starts = list(itertools.accumulate((len(text) + 1 for text in texts), initial=0))
        joined = b"\n".join(texts)
        found: dict[int, set[int]] = {}
        for part, numbers in self._by_text.items():
            at = joined.find(part)
            while at >= 0:
                index = bisect.bisect_right(starts, at) - 1
                found.setdefault(index, set()).update(numbers)
                at = joined.find(part, starts[index + 1])
        return {
            form: tuple(number for number in sorted(found.get(index, ())) if self._may_match(number, texts[index]))
            for index, form in enumerate(forms)
        }

    def _may_match(self, number: int, text: bytes) -> bool:
        return any(
            all(any(part in text for part in parts) for parts in alternative) for alternative in self._required[number]
        )

    @staticmethod
    def _places(data: bytes, forms: list[bytes], matching: dict[bytes, tuple[int, ...]]) -> list[Place]:
        places: list[Place] = []
        at = 0
        for form, line in zip(forms, data.translate(_LINE_ENDS).split(b"\n"), strict=True):
            numbers = matching.get(form)
            if numbers:
                places += [(place, number) for place in window_positions(at, at + len(line)) for number in numbers]
            at += len(line) + 1
        places.sort()
        return places


def _without_digits(texts: Iterable[str]) -> tuple[bytes, ...]:
    """The longest part without digits of each text: a form holds that part."""
    return tuple(sorted({max(re.split(r"\d+", text), key=len).encode() for text in texts}))
