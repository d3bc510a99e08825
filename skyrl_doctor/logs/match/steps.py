"""Leaves out the step lines of a block that cannot change a verdict: only the last few before another place count."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import merge

from skyrl_doctor.logs.match.engine import Place
from skyrl_doctor.logs.read.noise import WINDOW, clean, line_bounds

SURVIVED_STEPS = 3
"""An error that so many training steps follow was survived by the run."""
Texts = tuple[bytes, ...]
"""Texts of which every match of a pattern holds one."""


def thin_steps(
    data: bytes, places: Sequence[Place], steps: Mapping[int, Texts], is_step: Callable[[bytes], bool], certain: int
) -> Sequence[Place]:
    """The places, with only the last few steps before each other place and at the end. One line in ten may be a step.

    steps    numbers of the step patterns, with their texts. The engine reports whether a block holds any of them, and those
             that only a clean line shows; the others are searched from the end
    is_step  whether a clean line is a step
    certain  the number for a line that is certainly a step, and needs no further check
    """
    given = [place for place in places if place[1] in steps]
    if not given:
        return places
    search = _StepSearch(data, given, {number: steps[number] for _, number in given}, is_step, certain)
    kept, done = [place for place in places if place[1] not in steps], 0
    for at, _ in kept.copy():
        if at < done:
            continue
        start, end = line_bounds(data, at)
        kept += (*search.last_steps(done, start), *search.places_backwards(start, end))
        done = end + 1
    kept += search.last_steps(done, len(data))
    kept.sort()
    return kept


class _StepSearch:
    """Finds step lines from the end of a text."""

    def __init__(
        self,
        data: bytes,
        given: Sequence[Place],
        texts: Mapping[int, Texts],
        is_step: Callable[[bytes], bool],
        certain: int,
    ) -> None:
        self._data, self._given, self._texts, self._is_step, self._certain = data, given, texts, is_step, certain

    def last_steps(self, start: int, end: int) -> Iterator[Place]:
        """The last certain steps between two positions, and all places in lines that are judged in windows."""
        data, left, before = self._data, SURVIVED_STEPS, -1
        for at, number in self.places_backwards(start, end):
            first, beyond = line_bounds(data, at)
            if beyond - first > WINDOW:
                yield at, number
            elif first != before and self._is_step(clean(data[first:beyond])):
                yield at, self._certain
                left -= 1
            if not left:
                return
            before = first

    def places_backwards(self, start: int, end: int) -> Iterator[Place]:
        """The places from the end on. Each text is searched only as far back as the caller asks."""
        first, beyond = bisect_left(self._given, (start, 0)), bisect_left(self._given, (end, 0))
        found = (self._occurrences(number, text, start, end) for number, texts in self._texts.items() for text in texts)
        return merge(*found, reversed(self._given[first:beyond]), reverse=True)

    def _occurrences(self, number: int, text: bytes, start: int, end: int) -> Iterator[Place]:
        while (end := self._data.rfind(text, start, end)) >= 0:
            yield end, number
