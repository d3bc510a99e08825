"""Signals that ask the watch to stop, read between turns: a turn that is cut short could report an update twice."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

ENDS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class StopSignals:
    """A context in which the first signal asks the watch to stop; a second one of the same kind kills it."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._before: dict[int, Any] = {}
        self.number = 0

    def __enter__(self) -> "StopSignals":
        for number in ENDS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
                self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def wait(self, seconds: float) -> None:
        """Sleeps, or until a signal comes."""
        self._event.wait(seconds)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self.number = number
        signal.signal(number, signal.SIG_DFL)
        self._event.set()
