"""The memory model's job of verl's supervised fine-tuning, from its own keys (verl/trainer/config/sft_trainer_engine.yaml)."""

from collections.abc import Mapping
from dataclasses import replace

from skyrl_train.contracts.verl_keys import A, F, M
from skyrl_train.memory import Job, UnsupportedJobError, job_from_verl
from skyrl_train.memory.keys import Keys, or_default

ENGINES = {"fsdp": "fsdp", "fsdp2": "fsdp2", "megatron": "megatron", "automodel": "fsdp2", "veomni": "fsdp2"}
"""NeMo Automodel and VeOmni shard by FSDP2."""
_ENGINE_TABLES = {"fsdp": F, "fsdp2": F, "megatron": f"{A}.megatron"}
_MODEL = ("lora_rank", "target_modules", "use_remove_padding", "enable_gradient_checkpointing", "use_liger")

SETTINGS = {
    **{f"{M}.{name}": f"model.{name}" for name in ("lora_rank", "enable_gradient_checkpointing")},
    **{f"{F}.{name}": f"engine.{name}" for name in ("param_offload", "optimizer_offload")},
    f"{A}.ppo_micro_batch_size_per_gpu": "data.micro_batch_size_per_gpu",
    f"{A}.ppo_max_token_len_per_gpu": "data.max_token_len_per_gpu",
    "data.max_response_length": "data.max_length",
}
"""The keys of main_ppo that a change may name, and those of the fine-tuning program."""


def is_sft(values: Mapping[str, object]) -> bool:
    """Whether these are keys of the fine-tuning program: a model of its own, and none of an actor."""
    return not any(key.startswith("actor_rollout_ref.") for key in values) and any(
        key.split(".")[0] in ("model", "engine", "optim") for key in values
    )


def sft_job(values: Mapping[str, object], gpus: int | None) -> Job:
    """The job that these keys describe."""
    keys = Keys(values)
    named = keys.text("engine.strategy", "engine", "model.strategy") or "fsdp"
    engine = ENGINES.get(named)
    if engine is None:
        raise UnsupportedJobError(f"engine is {named!r}; supported: {', '.join(ENGINES)}")
    dynamic = keys.flag("data.use_dynamic_bsz", default=keys.raw("model.partial_pretrain") is None)
    length = or_default(keys.integer("data.max_length"), 1024)
    limit = or_default(keys.integer("data.max_token_len_per_gpu"), 8192)
    own = {f"{M}.{name}": values[f"model.{name}"] for name in _MODEL if f"model.{name}" in values}
    table = _ENGINE_TABLES[engine]
    own |= {
        f"{table}.{key.removeprefix('engine.')}": value for key, value in values.items() if key.startswith("engine.")
    }
    own |= {
        f"{A}.strategy": engine,
        "algorithm.adv_estimator": "grpo",
        "trainer.n_gpus_per_node": gpus or or_default(keys.integer("trainer.n_gpus_per_node"), 1),
        "trainer.nnodes": 1 if gpus else or_default(keys.integer("trainer.nnodes"), 1),
        "data.max_prompt_length": 1,
        "data.max_response_length": max(1, length - 1),
        f"{A}.ppo_mini_batch_size": or_default(keys.integer("data.train_batch_size"), 256),
        f"{A}.ppo_micro_batch_size_per_gpu": or_default(keys.integer("data.micro_batch_size_per_gpu"), 4),
        f"{A}.use_dynamic_bsz": dynamic,
        f"{A}.ppo_max_token_len_per_gpu": limit,
        f"{A}.ulysses_sequence_parallel_size": or_default(keys.integer("ulysses_sequence_parallel_size"), 1),
        "actor_rollout_ref.rollout.tensor_model_parallel_size": 1,
    }
    return replace(job_from_verl(own), framework="sft", rollout=None)
