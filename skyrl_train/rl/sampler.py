"""verl's sampler: waits for the rollouts of a step, counts them, and never returns an empty batch."""

import os
import time
from typing import Any

from transfer_queue import KVBatchMeta
from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer

from skyrl_train.agent.breaker import OutageError
from skyrl_train.contracts.agent.counts_file import line
from skyrl_train.contracts.agent.metrics import Counts, figures, of_outages
from skyrl_train.contracts.agent.outages import Outage
from skyrl_train.contracts.agent.pass_rates import Outcome
from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.files import append_line
from skyrl_train.contracts.job_files import COUNTS
from skyrl_train.contracts.run_log import say
from skyrl_train.rl import ends, prompts, transfer
from skyrl_train.rl.phases import phase
from skyrl_train.rl.prompts import Tags
from skyrl_train.rl.shared import shared
from skyrl_train.rl.trained import comparable, group_of
from skyrl_train.rl.transfer import TRAIN

POLL_S = 0.1
PAUSE_S = 10.0
"""The pause before the second new batch; it grows with each further one, since the failure may be temporary."""


class NothingToTrainOnError(TrainError):
    """Several batches in a row had no usable rollout."""


class Sampler(ReplayBuffer):
    """verl loads it by `trainer.v1.sampler.custom_sampler`."""

    def __init__(self, **words: Any) -> None:
        super().__init__(**words)
        self._job_dir = str(words["sampler_kwargs"]["job_dir"])
        self._config = shared(self._job_dir).config
        self.validated: list[Outcome] = []
        """The rollouts of the running validation; the trainer takes them."""
        self._outages: list[Outage] = []
        """Outages since the last counted step, those of a validation included."""

    def sample(self, global_steps: int, partition_id: str, batch_size: int) -> tuple[KVBatchMeta, dict[str, float]]:
        """The batch of a step. FIX(TRN001): without a usable rollout, new prompts are drawn as often as the configuration
        allows; then the run ends with the cause."""
        why = ""
        with phase("rollouts", self._config.trainer.phase_timeout_s):
            for attempt in range(self._config.trainer.empty_steps_allowed + 1):
                if attempt:
                    say(f"step {global_steps} has no usable rollout; drawing new prompts: {why}")
                    time.sleep(PAUSE_S * (attempt - 1))
                    self.refill_fn(batch_size)
                batch, metrics, why = self._sampled(global_steps, partition_id, batch_size)
                if batch.keys:
                    return batch, metrics
                if partition_id != TRAIN:
                    raise NothingToTrainOnError(f"validation: no rollout could be scored: {why}")
        raise NothingToTrainOnError(
            f"TRN001: {self._config.trainer.empty_steps_allowed + 1} batches in a row without one usable rollout "
            f"(trainer.empty_steps_allowed is {self._config.trainer.empty_steps_allowed}): {why}"
        )

    def _sampled(self, step: int, partition_id: str, batch_size: int) -> tuple[KVBatchMeta, dict[str, float], str]:
        """The usable rows of the finished prompts, with metrics and the reasons for missing ones."""
        groups, tags = self._finished(step, partition_id, batch_size)
        rows = {key: tag for key, tag in tags.items() if key not in groups and group_of(key) in groups}
        training = partition_id == TRAIN
        n = self._config.rollout.n if training else self._config.trainer.validate_samples
        recorded = ends.written(transfer.tags(ends.PARTITION))
        found = ends.ends_of(recorded, groups, n)
        advantage = self._config.algorithm.advantage if training else ""
        keys, alone = comparable(ends.in_order(rows, recorded), advantage=advantage, n=n)
        ages = prompts.ages(tags, groups, keys, step=step)
        transfer.clear(partition_id, [*groups, *alone])
        transfer.clear(ends.PARTITION, [key for key in recorded if group_of(key) in groups])
        counts = ends.total(found)
        self._outages += [outage for end in found for outage in end.outages]
        if training:
            counts += of_outages(self._outages)
            self._outages = []
            self._write_counts(counts)
        else:
            self.validated += [end.outcome for end in found]
        metrics = {**figures(counts), **ages, "rollout_metrics/num_alone": float(len(alone))}
        why = (
            ends.causes(found) if not rows else f"each prompt has only one usable rollout of {n}; {ends.causes(found)}"
        )
        return (
            KVBatchMeta(partition_id=partition_id, keys=keys, tags=[rows[key] for key in keys]),
            metrics,
            why,
        )

    def _write_counts(self, counts: Counts) -> None:
        try:
            append_line(os.path.join(self._job_dir, COUNTS), line(counts))
        except OSError as error:  # a missing count must not fail the step
            say(f"the counts of this step could not be written: {error}")

    def _finished(self, step: int, partition_id: str, batch_size: int) -> tuple[list[str], Tags]:
        """Waits until all rollouts of this many prompts have ended, successfully or not."""
        while True:
            if why := ends.stop_of(transfer.tags(ends.PARTITION)):
                raise OutageError(why)
            tags = transfer.tags(partition_id)
            most_steps = self._config.trainer.max_staleness
            if done := prompts.batch_of(tags, step=step, size=batch_size, most_steps=most_steps):
                return done, tags
            time.sleep(POLL_S)
