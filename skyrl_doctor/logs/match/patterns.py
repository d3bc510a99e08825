"""All that is looked for in a log, and the engine made for it: one for all files of a diagnosis or a watch."""

import functools
import re
from collections.abc import Iterator, Sequence, Set

from skyrl_doctor.core.signature import Signature
from skyrl_doctor.logs.match.engine import Engine
from skyrl_doctor.logs.match.engines import engine
from skyrl_doctor.logs.match.literals import literals
from skyrl_doctor.logs.match.phrases import DONE, STEPS, SUSPECTS
from skyrl_doctor.logs.match.signatures import Known, known

FAR = 200
"""A near pattern that may stand so many lines above is looked for everywhere; others are, when they are asked for."""
_SAME = 256
"""What fails over and over prints the same lines: so many answers are remembered."""
TRACEBACK = r"Traceback \(most recent call last\)"


class Patterns:
    """Patterns by number. Python's `re` on bytes decides, so that letters are those of ASCII in every engine.

    Most runs need few of them, and to compile all takes longer than to read a small log: see `compiled`.
    """

    def __init__(self, entries: Sequence[Known], *, engine_name: str | None = None) -> None:
        self.entries = tuple(entries)
        numbers: dict[str, int] = {}
        for text in self._texts():
            numbers.setdefault(text, len(numbers))
        self.texts = tuple(numbers)
        self.steps = {numbers[text]: tuple(map(str.encode, literals(text))) for text in STEPS}
        self.engine: Engine = engine(self.texts, engine_name, self.steps.keys())
        self.of: dict[int, list[int]] = {}
        for at, entry in enumerate(self.entries):
            self.of.setdefault(numbers[entry.signature.pattern], []).append(at)
        self.far = {numbers[text]: text for text in map(_far, self.entries) if text}
        self.suspects = frozenset(numbers[text] for text in SUSPECTS)
        self.done = numbers[DONE]
        self.traceback = numbers[TRACEBACK]
        self.stepped = len(self.texts)
        """That a line is a step indeed."""
        self.special = frozenset((self.done, self.traceback, self.stepped, *self.steps, *self.far))

    def matches(self, numbers: Set[int], text: bytes) -> dict[int, re.Match[bytes]]:
        """By number, in order."""
        found = ((number, self.search(number, text)) for number in sorted(numbers))
        return {number: match for number, match in found if match}

    def is_step(self, text: bytes) -> bool:
        """Whether a clean line says that a step ended."""
        return any(compiled(step).search(text) is not None for step in STEPS)

    def search(self, number: int, text: bytes) -> re.Match[bytes] | None:
        return _searched(self.texts[number], text)

    def _texts(self) -> Iterator[str]:
        for entry in self.entries:
            yield entry.signature.pattern
            if far := _far(entry):
                yield far
        yield from (*SUSPECTS, DONE, *STEPS, TRACEBACK)


@functools.cache
def compiled(pattern: str) -> re.Pattern[bytes]:
    """When it is first needed."""
    return re.compile(pattern.encode())


@functools.lru_cache(_SAME)
def _searched(pattern: str, text: bytes) -> re.Match[bytes] | None:
    return compiled(pattern).search(text)


def _far(entry: Known) -> str:
    return entry.signature.near if is_far(entry.signature) else ""


def is_far(signature: Signature) -> bool:
    return bool(signature.near) and signature.within > FAR


@functools.cache
def installed() -> Patterns:
    """Those of all signatures that are installed."""
    return Patterns(known())
