"""verl's trainers with time limits for their long phases; they save when the time limit of the job is near."""

import logging
import signal
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from verl.trainer.ppo.v1.trainer_base import PPOTrainer
from verl.trainer.ppo.v1.trainer_colocate_async import PPOTrainerColocateAsync
from verl.trainer.ppo.v1.trainer_separate_async import PPOTrainerSeparateAsync
from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync

from skyrl_train.contracts.run_log import say
from skyrl_train.rl import ends, prompts, transfer, validation
from skyrl_train.rl.phases import begin, end
from skyrl_train.rl.sync_turn import sync_turn

if TYPE_CHECKING:
    from skyrl_train.rl.weight_probe import WeightProbe

SAVE, SYNC, UPDATE = "checkpoint", "weight sync", "update"


class StoppedError(Exception):
    """The run stopped after a warning and has saved a checkpoint."""


class Warned:
    """Records SIGUSR1, which comes before a job's time limit; the trainer acts on it after the next step."""

    asked: bool = False

    def listen(self) -> None:
        signal.signal(signal.SIGUSR1, self._hear)

    def _hear(self, _number: int, _frame: object) -> None:
        self.asked = True


class Trainer(PPOTrainer):
    """Overrides only verl's hooks; a step itself is unchanged."""

    phase_timeout_s: float
    warned: Warned
    is_last: bool = False
    """Whether the running step is the last one before the stop. Set once a step, since SIGUSR1 may come at any moment."""

    make_probe: "type[WeightProbe] | None" = None
    probe: "WeightProbe | None" = None

    def ready(self, phase_timeout_s: float, warned: Warned, make_probe: "type[WeightProbe] | None") -> None:
        """Loads the models and the last checkpoint."""
        self.phase_timeout_s = phase_timeout_s
        self.warned = warned
        self.make_probe = make_probe
        self.init()

    def on_init_end(self) -> None:
        if self.make_probe:
            workers = self.config.trainer.nnodes * self.config.trainer.n_gpus_per_node
            self.probe = self.make_probe(
                self.tokenizer, most_tokens=self.config.data.max_prompt_length, workers=workers
            )
        self._synced(super().on_init_end)

    def on_sample_end(self) -> None:
        """Starts the update phase, which lasts from the end of the rollouts to the end of `step`."""
        begin(UPDATE, self.phase_timeout_s)
        super().on_sample_end()

    def on_step_begin(self) -> None:
        """Stops here and not at the end of the last step, since verl logs its metrics after `on_step_end`."""
        if self.is_last:
            raise StoppedError(f"the time limit of the job is near: stopped after step {self.global_steps - 1}")
        super().on_step_begin()

    def step(self, metrics: dict[str, Any], timing_raw: dict[str, float]) -> Any:
        batch = super().step(metrics, timing_raw)
        end(UPDATE)
        self.is_last = self.warned.asked
        if self.is_last:
            self._prepare_stop()
        begin(SAVE, self.phase_timeout_s)  # verl saves between `step` and `on_step_end`
        return batch

    def on_step_end(self) -> None:
        end(SAVE)
        if not self.is_last:  # no rollout follows before the stop
            self._synced(super().on_step_end)

    def on_validate_begin(self) -> None:
        super().on_validate_begin()
        self.replay_buffer.validated = []

    def on_validate_end(self) -> None:
        """Reports pass@1 and pass@k with their intervals, which verl's mean lacks."""
        super().on_validate_end()
        job_dir = str(self.config.trainer.v1.sampler.sampler_kwargs.job_dir)
        samples = int(self.config.actor_rollout_ref.rollout.val_kwargs.n)
        validation.report(job_dir, self.global_steps, self.replay_buffer.validated, samples=samples)

    def _prepare_stop(self) -> None:
        """Makes verl skip the validation and save the running step, if checkpoints are saved at all."""
        trainer = self.config.trainer
        trainer.test_freq = -1
        if trainer.save_freq > 0:
            trainer.save_freq = 1

    def servers(self) -> Sequence[Any]:
        """The model servers."""
        return list(self.llm_server_manager.server_handles)

    def _synced(self, work: Callable[[], None]) -> None:
        """A sync, and the proof that the weights arrived, before a step is trained on what they write. FIX(TRN021)"""
        with sync_turn(self.phase_timeout_s / 2, say):  # half: the first sync is a part of the start-up phase
            say("syncing weights to the model servers")  # the doctor's watch recognises this line
            begin(SYNC, self.phase_timeout_s)
            if self.probe:
                self.probe.before(self.actor_rollout_wg)
            work()
        if self.probe:
            self._pending_sync_metrics = self.probe.after(
                self.global_steps, self.servers()
            )  # verl adds them to the step's
        end(SYNC)


class SyncTrainer(Trainer, PPOTrainerSync):
    """A step waits for all its rollouts."""


class AsyncTrainer(Trainer):
    """A step waits for as many rollouts as it needs. The others go on with the new weights."""

    def on_init_end(self) -> None:
        """Forgets why the run ended that the checkpoint is of: its prompts are asked for again."""
        ended = transfer.tags(ends.PARTITION)
        transfer.clear(ends.PARTITION, [key for key, tag in ended.items() if ends.stop_of({key: tag})])
        super().on_init_end()

    def on_train_begin(self) -> None:
        """Removes what a checkpoint keeps of the step that it ends: rows that were trained on."""
        rows = prompts.orphans(transfer.tags(transfer.TRAIN))
        transfer.clear(transfer.TRAIN, rows)
        if self._restored_tq_prompt_count:
            say(f"{self._restored_tq_prompt_count} prompts in progress are taken from the checkpoint")
        super().on_train_begin()


class ColocateAsyncTrainer(AsyncTrainer, PPOTrainerColocateAsync):
    """Rollouts share the trainer's GPUs: an update interrupts them."""


class SeparateAsyncTrainer(AsyncTrainer, PPOTrainerSeparateAsync):
    """Rollouts have GPUs of their own: only a sync interrupts them."""

    def ready(self, phase_timeout_s: float, warned: Warned, make_probe: "type[WeightProbe] | None") -> None:
        # At INFO verl 0.9.1 passes `flush` to a logger, which ends the run with a TypeError.
        logging.getLogger(PPOTrainerSeparateAsync.__module__).setLevel(logging.WARNING)
        super().ready(phase_timeout_s, warned, make_probe)

    def servers(self) -> Sequence[Any]:
        return list(self.standalone_server_manager.server_handles)

    def _compute_old_log_prob(self, batch: Any, metrics: dict[str, Any]) -> Any:
        """Without verl's copy of the weights in host memory, which only a second update of the same step would read."""
        return PPOTrainer._compute_old_log_prob(self, batch, metrics)  # noqa: SLF001 -- the hook of verl's own trainers


MODES: dict[str, type[Trainer]] = {
    "sync": SyncTrainer,
    "colocate_async": ColocateAsyncTrainer,
    "separate_async": SeparateAsyncTrainer,
}
"""The trainer of each `trainer.mode`."""
