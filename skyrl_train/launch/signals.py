"""What whoever supervises a run was told since it started: to be heeded in its loop, and not wherever a signal falls."""

import os
import signal
from dataclasses import dataclass

from skyrl_train.processes import listens

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

    def pass_on(self, pid: int) -> None:
        """The warning, to a process that we have not waited for. A gate, or a program that still starts, would die of it."""
        if listens(pid, signal.SIGUSR1):
            self.passed_on = True
            os.kill(pid, signal.SIGUSR1)

    def _stop(self, number: int, _frame: object) -> None:
        self.stop = number

    def _before_end(self, _number: int, _frame: object) -> None:
        self.before_end = True
