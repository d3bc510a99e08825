"""How far above a line the pattern stood without which a signature does not count."""

import functools
from collections import Counter

from skyrl_doctor.core.signature import Signature
from skyrl_doctor.logs.judge.lookback import Behind, Sighting
from skyrl_doctor.logs.match.literals import literals
from skyrl_doctor.logs.match.patterns import compiled, is_far
from skyrl_doctor.logs.read.noise import OVERLAP

_MANY = 32
"""When so many lines of one block ask for a pattern, it is worth while to see first whether it stands there at all."""


class Near:
    """Asked for growing places."""

    def __init__(self) -> None:
        self._far: dict[str, int] = {}
        self._sightings: dict[str, Sighting] = {}
        self._asked: Counter[str] = Counter()
        self._absent: set[str] = set()

    def begin(self) -> None:
        """A further block."""
        self._asked.clear()
        self._absent.clear()

    def saw(self, far: str, number: int) -> None:
        """A pattern that is looked for everywhere, and its line."""
        self._far[far] = number

    def gap(self, signature: Signature, behind: Behind, end: int, number: int) -> int | None:
        """How many lines above the line it stood; none where it was not near enough."""
        near = signature.near
        if not near:
            return 0
        if near in self._absent and end > behind.begun + OVERLAP:
            return None
        if is_far(signature):
            stood = self._far.get(near)
            return None if stood is None or number - stood > signature.within else number - stood
        if self._is_absent(near, behind, end):
            return None
        found = self._sightings.setdefault(near, Sighting(compiled(near))).last(behind, end)
        gap = behind.text(found[0], end).count(b"\n") if found else signature.within + 1
        return gap if gap <= signature.within else None

    def _is_absent(self, near: str, behind: Behind, end: int) -> bool:
        """A match that counts lies whole in what is there: it began within reach, and is not as wide as OVERLAP."""
        self._asked[near] += 1
        if self._asked[near] == _MANY and (texts := _texts(near)):
            there = behind.all()
            if not any(text in there for text in texts):
                self._absent.add(near)
        return near in self._absent and end > behind.begun + OVERLAP


@functools.cache
def _texts(near: str) -> tuple[bytes, ...]:
    return tuple(text.encode() for text in literals(near))
