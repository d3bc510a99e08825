"""Leaves out the step lines of a block that cannot change a verdict: only the last few before another place count."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import merge

from skyrl_doctor.logs.match.engine import Place
from skyrl_doctor.logs.read.noise import WINDOW, bounds, clean

OUTLIVED = 3
"""When so many steps have ended after it, an error has ended no run."""
Texts = tuple[bytes, ...]
"""Each match of a pattern holds one of them."""


def thinned(
    data: bytes, places: Sequence[Place], steps: Mapping[int, Texts], is_step: Callable[[bytes], bool], sure: int
) -> Sequence[Place]:
    """With those steps only that end last before another place, or last of all. A log may have one in ten lines.

    The engine says whether there are any, and which of them only a clean line shows; the others are found from the end.
    A line that is a step indeed has the number `sure`, and need not be looked at again.
    """
    given = [place for place in places if place[1] in steps]
    if not given:
        return places
    seen = _Seen(data, given, {number: steps[number] for _, number in given}, is_step, sure)
    kept, done = [place for place in places if place[1] not in steps], 0
    for at, _ in kept.copy():
        if at < done:
            continue
        start, end = bounds(data, at)
        kept += (*seen.last(done, start), *seen.back(start, end))
        done = end + 1
    kept += seen.last(done, len(data))
    kept.sort()
    return kept


class _Seen:
    """Where steps may stand."""

    def __init__(
        self,
        data: bytes,
        given: Sequence[Place],
        texts: Mapping[int, Texts],
        is_step: Callable[[bytes], bool],
        sure: int,
    ) -> None:
        self._data, self._given, self._texts, self._is_step, self._sure = data, given, texts, is_step, sure

    def last(self, start: int, end: int) -> Iterator[Place]:
        """The last that are steps indeed; of a line that is looked at in windows all, whatever they are."""
        data, left, before = self._data, OUTLIVED, -1
        for at, number in self.back(start, end):
            first, beyond = bounds(data, at)
            if beyond - first > WINDOW:
                yield at, number
            elif first != before and self._is_step(clean(data[first:beyond])):
                yield at, self._sure
                left -= 1
            if not left:
                return
            before = first

    def back(self, start: int, end: int) -> Iterator[Place]:
        """From the end on; each text is looked for only as far back as is asked for."""
        first, beyond = bisect_left(self._given, (start, 0)), bisect_left(self._given, (end, 0))
        found = (self._of(number, text, start, end) for number, texts in self._texts.items() for text in texts)
        return merge(*found, reversed(self._given[first:beyond]), reverse=True)

    def _of(self, number: int, text: bytes, start: int, end: int) -> Iterator[Place]:
        while (end := self._data.rfind(text, start, end)) >= 0:
            yield end, number
