"""All that is looked for in a log, and the engine made for it: one for all files of a diagnosis or a watch."""

import functools
import re
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.signature import Signature
from skyrl_doctor.logs.advice import DONE, SUSPECTS
from skyrl_doctor.logs.engine import Engine, Growing, engine
from skyrl_doctor.logs.known import Known, known

FAR = 200
"""A near pattern that may stand so many lines above is looked for everywhere; others are, when they are asked for."""
TRACEBACK = r"Traceback \(most recent call last\)"


class Patterns:
    """Patterns by number. Python's `re` on bytes decides, so that letters are those of ASCII in every engine."""

    def __init__(self, entries: Sequence[Known], *, engine_name: str | None = None) -> None:
        self.entries = tuple(entries)
        numbers: dict[str, int] = {}
        for text in self._texts():
            numbers.setdefault(text, len(numbers))
        self.regexes = [re.compile(text.encode()) for text in numbers]
        self.engine: Engine = engine(tuple(numbers), engine_name) if engine_name else Growing(tuple(numbers))
        self.of: dict[int, list[int]] = {}
        for at, entry in enumerate(self.entries):
            self.of.setdefault(numbers[entry.signature.pattern], []).append(at)
        self.far = {numbers[text]: text for text in map(_far, self.entries) if text}
        self.near = {text: re.compile(text.encode()) for text in (entry.signature.near for entry in entries) if text}
        self.unless = {
            text: re.compile(text.encode()) for text in (entry.signature.unless for entry in entries) if text
        }
        self.suspects = {numbers[text]: re.compile(text.encode()) for text in SUSPECTS}
        self.done = numbers[DONE]
        self.traceback = numbers[TRACEBACK]

    def _texts(self) -> Iterator[str]:
        for entry in self.entries:
            yield entry.signature.pattern
            if far := _far(entry):
                yield far
        yield from (*SUSPECTS, DONE, TRACEBACK)


def _far(entry: Known) -> str:
    return entry.signature.near if is_far(entry.signature) else ""


def is_far(signature: Signature) -> bool:
    return bool(signature.near) and signature.within > FAR


@functools.cache
def installed() -> Patterns:
    """Those of all signatures that are installed."""
    return Patterns(known())
