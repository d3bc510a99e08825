"""Of many steps that end one after the other, the last few tell all: what they outlive is outlived."""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import merge

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.lookback import REACH, Behind, Sighting
from skyrl_doctor.logs.judge.unmatched import OUTLIVED
from skyrl_doctor.logs.match.engine import Place
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.clock import CLOCK, Clock, clock_of
from skyrl_doctor.logs.read.noise import WINDOW, bounds, clean

Texts = tuple[bytes, ...]
"""Each match of a pattern holds one of them."""


@record
class Mark:
    """Where a step ended."""

    file: str
    number: int
    clock: Clock | None


class Steps:
    """The last that ended. The text before each is kept, for most are followed by others before anyone asks for a clock."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._marks: deque[tuple[int, bytes]] = deque(maxlen=OUTLIVED)
        self._fresh: deque[tuple[int, int]] = deque(maxlen=OUTLIVED)

    def add(self, number: int, end: int) -> None:
        self._fresh.append((number, end))

    def outlive(self, number: int) -> bool:
        """Whether so many have ended after a line."""
        numbers = [*(mark for mark, _ in self._marks), *(fresh for fresh, _ in self._fresh)]
        return len(numbers) >= OUTLIVED and numbers[-OUTLIVED] > number

    def keep(self, behind: Behind) -> None:
        """Before the text is gone."""
        self._marks.extend((number, behind.text(end - REACH, end)) for number, end in self._fresh)
        self._fresh.clear()

    def marks(self) -> tuple[Mark, ...]:
        return tuple(Mark(self._file, number, _clock_in(text)) for number, text in self._marks)


def _clock_in(text: bytes) -> Clock | None:
    behind = Behind()
    behind.take(Block(0, text))
    return clock_at(Sighting(CLOCK), behind, len(text))


def clock_at(clock: Sighting, behind: Behind, end: int) -> Clock | None:
    """The last before a place, if it is near enough."""
    found = clock.last(behind, end)
    return clock_of(found[1]) if found else None


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
