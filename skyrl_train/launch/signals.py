"""What whoever supervises a run was told since it started: to be heeded in its loop, and not wherever a signal falls."""

import signal
from dataclasses import dataclass

STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass
class Signals:
    """`stop` is the signal to end; `before_end` that SIGUSR1 came, which comes before a job's time limit."""

    stop: int = 0
    before_end: bool = False
    passed_on: bool = False

    def listen(self) -> None:
        for number in STOPS:
            signal.signal(number, self._stop)
        signal.signal(signal.SIGUSR1, self._before_end)

    def _stop(self, number: int, _frame: object) -> None:
        self.stop = number

    def _before_end(self, _number: int, _frame: object) -> None:
        self.before_end = True
