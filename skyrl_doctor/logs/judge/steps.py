"""Of many steps that end one after the other, the last few tell all: what they outlive is outlived."""

from collections import deque

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.lookback import REACH, Behind, Sighting
from skyrl_doctor.logs.match.steps import OUTLIVED
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.clock import CLOCK, Clock, clock_of


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
