"""All patterns of a diagnosis or a watch, and the engine that searches for them: made once for all files."""

import functools
import re
from collections.abc import Iterator, Sequence, Set

from skyrl_doctor.core.signature import Part, Signature
from skyrl_doctor.logs.match.engine import Engine, unanchor
from skyrl_doctor.logs.match.engines import make_engine
from skyrl_doctor.logs.match.errors import ERRORS
from skyrl_doctor.logs.match.literals import alternatives, literals, split_branches
from skyrl_doctor.logs.match.phrases import DONE, OTHER_WAY, RUN_END, RUN_START, STEPS
from skyrl_doctor.logs.match.signatures import KnownFailure, load_signatures

FAR = 200
"""A near pattern that may stand more lines above than this is searched for everywhere; others only when they are needed."""
_CACHE_SIZE = 256
"""A failure that repeats prints equal lines: so many results are remembered."""
TRACEBACK = r"Traceback \(most recent call last\)"


class Patterns:
    """Patterns by number. Python's `re` on bytes decides whether one matches.

    entries       all signatures but those that stand in for others after a step; other records hold their positions here
    texts         the patterns by number
    steps         the numbers of the step patterns, with texts that their matches hold
    entries_of    the signatures of a pattern
    far           the near patterns that are searched for everywhere
    errors        the numbers of the patterns of errors in general
    certain_step  the number for a line that is certainly a step; no pattern has it
    special       numbers of patterns that are not only those of signatures
    """

    def __init__(self, entries: Sequence[KnownFailure], *, engine_name: str | None = None) -> None:
        self.entries = tuple(entry for entry in entries if not entry.signature.steps)
        numbers: dict[str, int] = {}
        for text in self._texts():
            numbers.setdefault(text, len(numbers))
        self.texts = tuple(numbers)
        self.steps = {numbers[text]: tuple(map(str.encode, literals(text))) for text in STEPS}
        self.engine: Engine = make_engine(self.texts, engine_name, self.steps.keys())
        self.entries_of: dict[int, list[int]] = {}
        for at, entry in enumerate(self.entries):
            self.entries_of.setdefault(numbers[entry.signature.pattern], []).append(at)
        self.far = {numbers[text]: text for text in map(_far_pattern, self.entries) if text}
        self.errors = frozenset(numbers[text] for text in ERRORS)
        self.done = numbers[DONE]
        self.traceback = numbers[TRACEBACK]
        self.run_start, self.run_end = numbers[RUN_START], numbers[RUN_END]
        self.other_way = numbers[OTHER_WAY]
        self.certain_step = len(self.texts)
        marks = (self.run_start, self.run_end, self.other_way)
        self.special = frozenset((self.done, self.traceback, *marks, self.certain_step, *self.steps, *self.far))

    def matches(self, numbers: Set[int], text: bytes) -> dict[int, re.Match[bytes]]:
        """The matches of these patterns in a clean line, by number, in order."""
        found = ((number, self.search(number, text)) for number in sorted(numbers))
        return {number: match for number, match in found if match}

    def is_step(self, text: bytes) -> bool:
        """Whether a clean line says that a training step ended."""
        return any(compile_pattern(step).search(text) is not None for step in STEPS)

    def search(self, number: int, text: bytes) -> re.Match[bytes] | None:
        """The first match of a pattern in a clean line."""
        return _search(self.texts[number], text)

    def matches_signature(self, text: bytes) -> bool:
        """Whether any signature matches a clean line."""
        numbers = {number for _, number in self.engine.places(text)} & self.entries_of.keys()
        return any(self.search(number, text) is not None for number in numbers)

    def matches_root(self, text: bytes) -> bool:
        """Whether a signature of a cause matches a clean line, whatever stands above it."""
        numbers = {number for _, number in self.engine.places(text)} & self.entries_of.keys()
        causes = (
            number
            for number in numbers
            if any(
                signature.role is Part.ROOT and not signature.near
                for signature in (self.entries[at].signature for at in self.entries_of[number])
            )
        )
        return any(self.search(number, text) is not None for number in causes)

    def can_match(self, number: int, text: bytes) -> bool:
        """Whether a pattern may match in some line of a text without noise."""
        pattern = self.texts[number]
        is_possible = any(
            all(any(one in text for one in texts) for texts in needed) for needed in _needed_texts(pattern)
        )  # takes a hundredth of the time of the search
        return is_possible and compile_pattern(unanchor(pattern)).search(text) is not None

    def _texts(self) -> Iterator[str]:
        for entry in self.entries:
            yield entry.signature.pattern
            if far := _far_pattern(entry):
                yield far
        yield from (*ERRORS, DONE, *STEPS, TRACEBACK, RUN_START, RUN_END, OTHER_WAY)


@functools.cache
def compile_pattern(pattern: str) -> re.Pattern[bytes]:
    """The compiled pattern. Most runs need few of them, and to compile all takes longer than to read a small log."""
    return re.compile(pattern.encode())


def is_far(signature: Signature) -> bool:
    """Whether the near pattern is searched for everywhere."""
    return bool(signature.near) and signature.within > FAR


@functools.cache
def _needed_texts(pattern: str) -> list[list[list[bytes]]]:
    """For each alternative the sets of texts of which each match holds one."""
    branches = (branch for part in split_branches(pattern) for branch in alternatives(part))
    return [[[text.encode() for text in texts] for texts in branch] for branch in branches]


@functools.cache
def installed_patterns() -> Patterns:
    """The patterns of all installed signatures."""
    return Patterns(load_signatures())


@functools.lru_cache(_CACHE_SIZE)
def _search(pattern: str, text: bytes) -> re.Match[bytes] | None:
    return compile_pattern(pattern).search(text)


def _far_pattern(entry: KnownFailure) -> str:
    return entry.signature.near if is_far(entry.signature) else ""
