"""verl's synchronous trainer, each of whose long phases has a limit, and which saves when it is told that time runs out."""

import signal
from collections.abc import Callable
from typing import Any

from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync

from skyrl_train.contracts.run_log import say
from skyrl_train.rl.phases import begin, end

SAVE, SYNC, UPDATE = "checkpoint", "weight sync", "update"


class StoppedError(Exception):
    """The run was told to stop, and has saved what it had."""


class Warned:
    """SIGUSR1, which comes before a job's time limit: heard from the first moment, heeded after the next step."""

    asked: bool = False

    def listen(self) -> None:
        signal.signal(signal.SIGUSR1, self._hear)

    def _hear(self, _number: int, _frame: object) -> None:
        self.asked = True


class Trainer(PPOTrainerSync):
    """Only verl's own hooks are overridden: what happens in a step is verl's."""

    phase_timeout_s: float
    warned: Warned
    is_last: bool = False
    """Whether the step that runs is the last one of this turn: asked once a step, since SIGUSR1 may come at any moment."""

    def ready(self, phase_timeout_s: float, warned: Warned) -> None:
        """Models loaded and the last checkpoint read."""
        self.phase_timeout_s = phase_timeout_s
        self.warned = warned
        self.init()

    def on_init_end(self) -> None:
        self._synced(super().on_init_end)

    def on_sample_end(self) -> None:
        """Rollouts are there: from here to the end of `step` the device computes."""
        begin(UPDATE, self.phase_timeout_s)
        super().on_sample_end()

    def on_step_begin(self) -> None:
        """Not at the end of the step before: verl logs what it measured of a step after `on_step_end`."""
        if self.is_last:
            raise StoppedError(f"told that time runs out: step {self.global_steps - 1} was the last one of this turn")
        super().on_step_begin()

    def step(self, metrics: dict[str, Any], timing_raw: dict[str, float]) -> Any:
        batch = super().step(metrics, timing_raw)
        end(UPDATE)
        self.is_last = self.warned.asked
        if self.is_last:
            self._close_turn()
        begin(SAVE, self.phase_timeout_s)  # what verl does between `step` and `on_step_end`
        return batch

    def on_step_end(self) -> None:
        end(SAVE)
        if not self.is_last:  # nobody writes with these weights in this turn
            self._synced(super().on_step_end)

    def _close_turn(self) -> None:
        """The step that runs is saved whatever its number, and there is no time to validate."""
        trainer = self.config.trainer
        trainer.test_freq = -1
        if trainer.save_freq > 0:
            trainer.save_freq = 1

    def _synced(self, work: Callable[[], None]) -> None:
        say("syncing weights to the model servers")  # the watch knows such lines
        begin(SYNC, self.phase_timeout_s)
        work()
        end(SYNC)
