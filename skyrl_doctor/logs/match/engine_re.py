"""The engine without libraries: texts that every match must hold, looked for in lines of a new form only.

Lines of logs differ in their numbers mostly. Without digits a block of thousands of lines has a few forms, and which
of them may hold a match need be found out once.
"""

import bisect
import itertools
import re
from collections.abc import Iterable, Sequence

from skyrl_doctor.logs.match.engine import Place
from skyrl_doctor.logs.match.literals import alternatives, literals
from skyrl_doctor.logs.read.noise import spread, uncoloured

_DIGITS = b"0123456789"
_ENDS = bytes.maketrans(b"\r", b"\n")
_FORMS = 1 << 15
"""So many forms are remembered."""
_LONGEST = 1 << 10


class Re:
    """Python's own."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._by_text: dict[bytes, tuple[int, ...]] = {}
        self._needs = [[[_undigited(some) for some in sets] for sets in alternatives(one)] for one in patterns]
        for number, pattern in enumerate(patterns):
            for text in _undigited(literals(pattern) or {""}):
                self._by_text[text] = (*self._by_text.get(text, ()), number)
        self._known: dict[bytes, tuple[int, ...]] = {}

    def places(self, data: bytes) -> list[Place]:
        forms = data.translate(_ENDS, _DIGITS).split(b"\n")
        known = self._known if len(self._known) < _FORMS else {}
        fresh = self._numbers([form for form in set(forms) if form not in known])
        known |= {form: numbers for form, numbers in fresh.items() if len(form) <= _LONGEST}
        self._known = known
        hot = {form: numbers for form in set(forms) if (numbers := fresh.get(form) or known.get(form))}
        return self._placed(data, forms, hot) if hot else []

    def ends(self, _: bytes) -> Sequence[int]:
        """`bytes.count` is as good."""
        return ()

    def _numbers(self, forms: list[bytes]) -> dict[bytes, tuple[int, ...]]:
        """The patterns that each form may match: all forms are searched at once, text by text."""
        texts = [uncoloured(form) for form in forms]
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
            all(any(part in text for part in parts) for parts in alternative) for alternative in self._needs[number]
        )

    @staticmethod
    def _placed(data: bytes, forms: list[bytes], hot: dict[bytes, tuple[int, ...]]) -> list[Place]:
        places: list[Place] = []
        at = 0
        for form, line in zip(forms, data.translate(_ENDS).split(b"\n"), strict=True):
            numbers = hot.get(form)
            if numbers:
                places += [(place, number) for place in spread(at, at + len(line)) for number in numbers]
            at += len(line) + 1
        places.sort()
        return places


def _undigited(texts: Iterable[str]) -> tuple[bytes, ...]:
    """What is left of texts in a form: their longest part without digits."""
    return tuple(sorted({max(re.split(r"\d+", text), key=len).encode() for text in texts}))
