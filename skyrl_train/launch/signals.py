"""Records the signals that a supervisor received, so that its loop can act on them at a safe point."""

import os
import signal
import time
from dataclasses import dataclass

from skyrl_train.procfs import listens

STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
PATIENCE_S = 60.0
"""By then the gate has passed and the program handles the signal."""


@dataclass
class Signals:
    """The signals received. `stop` is the number of the signal to end; `before_end` is set by SIGUSR1, Slurm's warning before the time limit."""

    stop: int = 0
    before_end: bool = False
    passed_on: bool = False
    patience_s: float = PATIENCE_S
    _waits_since: float = 0.0

    def listen(self) -> None:
        for number in STOPS:
            signal.signal(number, self._stop)
        signal.signal(signal.SIGUSR1, self._before_end)

    def stop_requested(self) -> bool:
        return self.stop != 0

    def pass_on(self, pid: int) -> None:
        """Sends the warning to a child once it handles SIGUSR1; a gate or a program that still starts would die of it.

        After `patience_s` it is sent anyway: a program that dies of it can be requeued, one that hits the time limit not.
        """
        self._waits_since = self._waits_since or time.monotonic()
        if listens(pid, signal.SIGUSR1) or time.monotonic() - self._waits_since > self.patience_s:
            self.passed_on = True
            os.kill(pid, signal.SIGUSR1)

    def _stop(self, number: int, _frame: object) -> None:
        self.stop = number

    def _before_end(self, _number: int, _frame: object) -> None:
        self.before_end = True
