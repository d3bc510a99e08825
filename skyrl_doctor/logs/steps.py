"""Of many steps that end one after the other, the last few tell all: what they outlive is outlived."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.behind import REACH, Behind, Sighting
from skyrl_doctor.logs.blocks import Block
from skyrl_doctor.logs.clock import CLOCK, Clock, clock_of
from skyrl_doctor.logs.engine import Place
from skyrl_doctor.logs.noise import WINDOW, bounds, clean
from skyrl_doctor.logs.suspects import OUTLIVED


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


def thinned(data: bytes, places: Sequence[Place], step: int, is_step: Callable[[bytes], bool]) -> list[Place]:
    """Without the steps that nothing follows but further steps. A log may have one in ten lines."""
    return [place for run in _runs(places, step) for place in _last(data, run, is_step)]


def _runs(places: Sequence[Place], step: int) -> Iterator[Sequence[Place]]:
    """Steps that follow each other, and between them single places of other patterns."""
    others = [at for at, (_, number) in enumerate(places) if number != step]
    begun = 0
    for at in others:
        yield places[begun:at]
        yield places[at : at + 1]
        begun = at + 1
    yield places[begun:]


def _last(data: bytes, run: Sequence[Place], is_step: Callable[[bytes], bool]) -> Sequence[Place]:
    """The first, which may share its line with what stands before, and the last that are steps indeed."""
    left, before = OUTLIVED, -1
    for at in range(len(run) - 1, 0, -1):
        start, end = bounds(data, run[at][0])
        if end - start > WINDOW:
            return run
        if start != before and is_step(clean(data[start:end])):
            left -= 1
        if not left:
            return (run[0], *run[at:])
        before = start
    return run
