"""Runs after each save of verl: verifies and marks the checkpoint, updates the tracker, removes old checkpoints."""

from typing import Any

from verl.trainer.ppo.checkpoint_callback import CheckpointCallback

from skyrl_train.checkpoints.finish import finish
from skyrl_train.checkpoints.prune import prune
from skyrl_train.contracts.checkpoints.layout import kinds_of
from skyrl_train.rl.shared import shared


class Saving(CheckpointCallback):
    """verl loads it by `trainer.checkpoint_callback_class`. An error ends the run, since it can no longer save."""

    def on_save(self, trainer: Any, global_step: int, checkpoint_dir: str, **_words: Any) -> None:
        del trainer, checkpoint_dir
        root = str(self.config.trainer.default_local_dir)
        config = shared(str(self.config.trainer.v1.sampler.sampler_kwargs.job_dir)).config
        kinds = kinds_of(self.config.actor_rollout_ref.actor.checkpoint.save_contents)
        finish(root, global_step, critic=config.needs_critic, kinds=kinds)
        prune(root, keep=config.trainer.checkpoints_to_keep, kinds=kinds)
