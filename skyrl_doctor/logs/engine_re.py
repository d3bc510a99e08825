"""The engine without libraries: texts that every match must hold, looked for in lines of a new form only.

Lines of logs differ in their numbers mostly. Without digits a block of thousands of lines has a few forms, and which
of them may hold a match need be found out once.
"""

import re
from collections.abc import Iterable, Sequence

from skyrl_doctor.logs.engine import Place
from skyrl_doctor.logs.literals import alternatives, literals
from skyrl_doctor.logs.noise import spread, uncoloured

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
        hot = {form: numbers for form in set(forms) if (numbers := self._numbers(form, known))}
        self._known = known
        return self._placed(data, forms, hot) if hot else []

    def _numbers(self, form: bytes, known: dict[bytes, tuple[int, ...]]) -> tuple[int, ...]:
        numbers = known.get(form)
        if numbers is None:
            text = uncoloured(form)
            some = {number for part, some in self._by_text.items() if part in text for number in some}
            numbers = tuple(number for number in some if self._may_match(number, text))
            if len(form) <= _LONGEST:
                known[form] = numbers
        return numbers

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
