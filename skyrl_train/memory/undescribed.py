"""Refuses settings of verl that the memory model does not support, and names their key."""

import re

from skyrl_train.memory.config_file import LIMITS
from skyrl_train.memory.errors import UnsupportedJobError
from skyrl_train.memory.keys import Keys
from skyrl_train.memory.known import known_config

A, M, R, C = "actor_rollout_ref.actor", "actor_rollout_ref.model", "actor_rollout_ref.rollout", "critic"
VLLM = f"{R}.engine_kwargs.vllm"
CRITIC_BY_DEFAULT = "~/models/deepseek-llm-7b-chat"  # verl's default, which is never chosen on purpose
SWITCHES = (
    *(f"{model}.{name}" for model in (M, f"{C}.model") for name in ("use_liger",)),
    *(f"{model}.tiled_mlp.enabled" for model in (M, f"{C}.model")),
    f"{M}.mtp.enable",
    f"{A}.fsdp_config.qat.enable",
    f"{A}.use_prefix_grouper",
)
ESTIMATORS = ("kl", "k1", "abs", "mse", "k2", "low_var_kl", "k3")
"""Distillation losses of one log-prob for each token (verl trainer/distillation/losses.py). They hold no second logits."""
VISION = re.compile(r"visual|vision")
"""Modules of a vision tower. Adapters are counted in the text model alone."""
USUAL = {
    f"{R}.name": ("vllm", "sglang", "trtllm", "dynamo"),
    f"{A}.optim.optimizer": ("AdamW", "Adam", "adam", "adamw"),
    f"{R}.quantization": ("fp8",),
    f"{R}.pipeline_model_parallel_size": (1, "1"),
    f"{VLLM}.kv_cache_dtype": ("auto", "fp8", "fp8_e4m3", "fp8_e5m2"),
    f"{VLLM}.cpu_offload_gb": (0, "0"),
    f"{VLLM}.quantization": (),
    f"{VLLM}.speculative_config": (),
    **{f"{M}.override_config.{name}": () for name in LIMITS if name != "max_position_embeddings"},
}
"""The supported values; unset is always supported."""


def refuse_undescribed(keys: Keys, *, critic: bool, lora: bool) -> None:
    """UnsupportedJobError for the first setting that is not supported."""
    for key in SWITCHES:
        if keys.flag(key):
            raise UnsupportedJobError(
                f"{key} is set, which the memory model does not support; set it to false for a rough figure"
            )
    for key, usual in USUAL.items():
        found = keys.raw(key)
        if found is not None and found[1] not in ("", *usual):
            supported = (
                f"; only {usual[0]} is supported: set it to {usual[0]} for a rough figure"
                if usual
                else ", which the memory model does not support; leave it out for a rough figure"
            )
            raise UnsupportedJobError(f"{key} is {found[1]!r}{supported}")
    adapter = keys.raw(f"{M}.lora_adapter_path")
    if adapter is not None and adapter[1] and not lora:
        raise UnsupportedJobError(f"{adapter[0]} is {adapter[1]!r}; set {M}.lora_rank to the rank of that adapter")
    excluded = keys.raw(f"{M}.exclude_modules")
    if lora and excluded is not None and excluded[1] and not VISION.search(str(excluded[1])):
        raise UnsupportedJobError(
            f"{excluded[0]} is {excluded[1]!r}; only modules of a vision tower can be left out; use target_modules"
        )
    for reward in ("reward.reward_model", "reward_model"):
        if keys.flag(f"{reward}.enable") and not keys.flag(f"{reward}.enable_resource_pool"):
            raise UnsupportedJobError(
                f"{reward}.enable is set; a reward model on the same GPUs is not supported; set it to false to leave out its memory"
            )
    if keys.flag("distillation.enabled"):  # the teachers have GPUs of their own (trainer_base.py: teacher_pool)
        _refuse_other_logits(keys)
    if critic:
        _refuse_another_shape(keys)


def _refuse_other_logits(keys: Keys) -> None:
    loss = keys.raw("distillation.distillation_loss.loss_mode")
    if loss is not None and loss[1] not in ESTIMATORS:
        raise UnsupportedJobError(
            f"{loss[0]} is {loss[1]!r}, which holds the logits a second time; set it to k1 for a rough figure"
        )


def _refuse_another_shape(keys: Keys) -> None:
    actor, critic = keys.raw(f"{M}.path"), keys.raw(f"{C}.model.path")
    if actor is None or critic is None or critic[1] in (actor[1], "", CRITIC_BY_DEFAULT):
        return
    shapes = [known_config(str(path)) for _, path in (actor, critic)]
    if shapes[0] is None or shapes[0] != shapes[1]:
        raise UnsupportedJobError(
            f"{critic[0]} is {critic[1]!r}; only a critic with the actor's shape is supported: set it to the actor's model for a rough figure"
        )
