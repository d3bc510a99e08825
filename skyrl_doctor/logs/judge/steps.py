"""The last training steps that ended in one file. An error that enough steps follow was survived."""

from collections import deque

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.lines import clock_before
from skyrl_doctor.logs.judge.lookback import REACH, LastMatch, Lookback
from skyrl_doctor.logs.match.steps import SURVIVED_STEPS
from skyrl_doctor.logs.read.blocks import Block
from skyrl_doctor.logs.read.clock import CLOCK, Clock


@record
class Mark:
    """Where a step ended."""

    file: str
    number: int
    clock: Clock | None


class Steps:
    """The last few steps. The text before each is kept, and its clock is parsed only if someone asks: most steps are replaced."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._texts: deque[tuple[int, bytes]] = deque(maxlen=SURVIVED_STEPS)
        self._fresh: deque[tuple[int, int]] = deque(maxlen=SURVIVED_STEPS)

    def add(self, number: int, end: int) -> None:
        """Add a step by its line number and the position of its end."""
        self._fresh.append((number, end))

    def start_run(self) -> None:
        """Forget the steps of an earlier run."""
        self._texts.clear()
        self._fresh.clear()

    def is_survived(self, number: int) -> bool:
        """Whether enough steps ended after that line."""
        numbers = [*(old for old, _ in self._texts), *(fresh for fresh, _ in self._fresh)]
        return len(numbers) >= SURVIVED_STEPS and numbers[-SURVIVED_STEPS] > number

    def keep_text(self, lookback: Lookback) -> None:
        """Copy the text before each new step, while the lookback still has it."""
        self._texts.extend((number, lookback.text(end - REACH, end)) for number, end in self._fresh)
        self._fresh.clear()

    def last_text(self) -> bytes:
        """The text up to the end of the last step."""
        return self._texts[-1][1] if self._texts else b""

    def marks(self) -> tuple[Mark, ...]:
        """The last steps with their clocks."""
        return tuple(Mark(self._file, number, _last_clock(text)) for number, text in self._texts)


def _last_clock(text: bytes) -> Clock | None:
    lookback = Lookback()
    lookback.add_block(Block(0, text))
    return clock_before(LastMatch(CLOCK), lookback, len(text))
