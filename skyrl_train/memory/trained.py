"""The models that a job trains: the actor, and the critic under its own settings."""

from dataclasses import replace

from skyrl_train.memory.job import Critic, Job
from skyrl_train.memory.megatron import MegatronModel
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.states import Model


def actor_of(shape: ModelShape, job: Job) -> Model:
    return _kind(job)(shape, job)


def _kind(job: Job) -> type[Model]:
    return MegatronModel if job.strategy == "megatron" else Model


def critic_of(shape: ModelShape, job: Job) -> Model | None:
    """The critic: the actor's shape with a value head, under its own settings."""
    critic: Critic | None = job.critic
    if critic is None:
        return None
    own = replace(
        job,
        micro_batch=critic.micro_batch,
        log_prob_micro_batch=critic.micro_batch,
        max_tokens=critic.max_tokens,
        log_prob_max_tokens=critic.max_tokens,
        param_offload=critic.param_offload,
        optimizer_offload=critic.optimizer_offload,
        gradient_checkpointing=critic.gradient_checkpointing,
        remove_padding=critic.remove_padding,
        master_dtype=critic.master_dtype,
        strategy=critic.strategy,
        lora_rank=0,
        critic=None,
    )
    return _kind(own)(shape, own, value_head=True)
