"""Signals as a question that is asked between turns: a turn that is cut in the middle could say a thing twice."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

ENDS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


class Told:
    """A context in which the first signal only asks for the end; a second one of its kind is the usual death."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._before: dict[int, Any] = {}
        self.number = 0

    def __enter__(self) -> "Told":
        for number in ENDS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, and whoever else wants it so
                self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def wait(self, seconds: float) -> None:
        """Sleeps, or until told."""
        self._event.wait(seconds)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self.number = number
        signal.signal(number, signal.SIG_DFL)
        self._event.set()
