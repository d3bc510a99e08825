"""What whoever supervises a run was told since it started: to be heeded in its loop, and not wherever a signal falls."""

import os
import signal
import time
from dataclasses import dataclass

from skyrl_train.procfs import listens

STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PATIENCE_S = 60.0
"""A gate is through, and a program listens, within that time."""


@dataclass
class Signals:
    """`stop` is the signal to end; `before_end` that SIGUSR1 came, which comes before a job's time limit."""

    stop: int = 0
    before_end: bool = False
    passed_on: bool = False
    patience_s: float = PATIENCE_S
    _waits_since: float = 0.0

    def listen(self) -> None:
        for number in STOPS:
            signal.signal(number, self._stop)
        signal.signal(signal.SIGUSR1, self._before_end)

    def told_to_end(self) -> bool:
        return self.stop != 0

    def pass_on(self, pid: int) -> None:
        """The warning, to a process that we have not waited for. A gate, or a program that still starts, would die of it.

        So does a program that never listens: but its job, if it is queued again, goes on in its next turn, which one that
        runs into its time limit does not.
        """
        self._waits_since = self._waits_since or time.monotonic()
        if listens(pid, signal.SIGUSR1) or time.monotonic() - self._waits_since > self.patience_s:
            self.passed_on = True
            os.kill(pid, signal.SIGUSR1)

    def _stop(self, number: int, _frame: object) -> None:
        self.stop = number

    def _before_end(self, _number: int, _frame: object) -> None:
        self.before_end = True
