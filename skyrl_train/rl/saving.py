"""What follows each of verl's saves: the checkpoint is proved whole and marked, the tracker moved, old ones removed."""

from typing import Any

from verl.trainer.ppo.checkpoint_callback import CheckpointCallback

from skyrl_train.checkpoints.finish import finish
from skyrl_train.checkpoints.prune import prune
from skyrl_train.contracts.checkpoints.layout import kinds_of
from skyrl_train.rl.shared import shared


class Saving(CheckpointCallback):
    """Named by `trainer.checkpoint_callback_class`. What it raises ends the run: a run that cannot save is no run."""

    def on_save(self, trainer: Any, global_step: int, checkpoint_dir: str, **_words: Any) -> None:
        del trainer, checkpoint_dir
        root = str(self.config.trainer.default_local_dir)
        config = shared(str(self.config.trainer.v1.sampler.sampler_kwargs.job_dir)).config
        kinds = kinds_of(self.config.actor_rollout_ref.actor.checkpoint.save_contents)
        finish(root, global_step, critic=config.needs_critic, kinds=kinds)
        prune(root, keep=config.trainer.checkpoints_to_keep, kinds=kinds)
