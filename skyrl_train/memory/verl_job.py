"""Makes a Job from verl's keys: a flat mapping of dotted overrides, as on its command line.

Only keys that affect memory are read; a missing key has the default of verl 0.9.1. A key that RunConfig has a setting for
is found by that setting (skyrl_train.contracts.verl_keys). Values may be parsed YAML or text from a command line.
Interpolations (${…}) must be resolved first.
"""

from collections.abc import Mapping
from dataclasses import replace

from skyrl_train.config.rollout_gpus import SENDER as OURS
from skyrl_train.contracts.verl_keys import (
    MODE,
    OWN_GPUS,
    OWN_NODES,
    REF,
    SENDER,
    SEPARATE,
    SHARED,
    A,
    C,
    F,
    M,
    R,
    names,
)
from skyrl_train.memory.errors import BadJobError, UnsupportedJobError
from skyrl_train.memory.job import STRATEGIES, Critic, Job, Rollout
from skyrl_train.memory.keys import Keys, or_default
from skyrl_train.memory.megatron_job import TABLE as MEGATRON
from skyrl_train.memory.megatron_job import as_megatron
from skyrl_train.memory.parameters import LINEARS
from skyrl_train.memory.undescribed import refuse_undescribed

FLASH = "flash_attention_2"
"""With another attention, flash-attn is usually not installed, nor its cross-entropy: log-probs then need more memory."""


BUCKETS, VERLS_BUCKETS = 2, 3
"""On a GPU of rollouts: one to hand to vLLM, and one or two to receive into (verl checkpoint_engine/nccl_checkpoint_engine.py)."""
LIKE_FSDP2 = ("veomni", "torchtitan", "fsdp_turbo", "automodel")
"""verl's engines that shard by FSDP2, with a table of settings of their own."""


def job_from_verl(values: Mapping[str, object]) -> Job:
    """The job that these overrides of verl 0.9.1 describe."""
    keys, strategy = _strategy(values)
    dynamic = keys.flag(*names("actor.dynamic_batch_size"))
    attention = keys.text(*names("model.attention")) or FLASH
    lora_rank = or_default(keys.integer(*names("model.lora_rank")), 0)
    refuse_undescribed(keys, critic=_has_critic(keys), lora=lora_rank != 0)
    limit = keys.integer(*names("actor.max_tokens_per_gpu")) or 16384
    nodes = or_default(keys.integer(*names("slurm.nodes")), 1)
    gpus = nodes * or_default(keys.integer(*names("slurm.gpus_per_node")), 8)
    ranks = max(1, gpus // _sequence_parallel(keys))
    micro = _micro_batch(keys, A, "ppo_micro_batch_size", ranks)
    chunked = keys.flag(*names("actor.entropy_chunking"))
    job = Job(
        prompt_length=or_default(keys.integer(*names("data.max_prompt_tokens")), 512),
        response_length=or_default(keys.integer(*names("data.max_response_tokens")), 512),
        micro_batch=or_default(micro, 1),
        log_prob_micro_batch=or_default(
            _micro_batch(keys, R, "log_prob_micro_batch_size", ranks), or_default(micro, 1)
        ),
        ref_micro_batch=or_default(_micro_batch(keys, REF, "log_prob_micro_batch_size", ranks), or_default(micro, 1)),
        mini_batch=or_default(keys.integer(*names("actor.ppo_mini_batch_size")), 256),
        n=or_default(keys.integer(*names("rollout.n")), 1),
        train_batch=_train_batch(keys),
        max_tokens=limit if dynamic else None,
        log_prob_max_tokens=or_default(keys.integer(f"{R}.log_prob_max_token_len_per_gpu"), limit) if dynamic else None,
        n_gpus=gpus,
        fsdp_size=or_default(keys.integer(f"{F}.fsdp_size"), -1),
        sequence_parallel=_sequence_parallel(keys),
        strategy=strategy,
        master_dtype=keys.text(*names("actor.model_dtype")) or "fp32",
        param_dtype=keys.text(f"{F}.mixed_precision.param_dtype") or "bf16",
        reduce_dtype=keys.text(f"{F}.mixed_precision.reduce_dtype") or "fp32",
        param_offload=keys.flag(*names("actor.param_offload")),
        optimizer_offload=keys.flag(*names("actor.optimizer_offload")),
        offload_policy=keys.flag(*names("actor.cpu_offload")),
        use_orig_params=keys.flag(f"{F}.use_orig_params"),
        gradient_checkpointing=keys.flag(*names("model.gradient_checkpointing"), default=True),
        remove_padding=keys.flag(*names("model.remove_padding"), default=True),
        attention=attention,
        flash_cross_entropy=attention == FLASH,
        fused_kernels=_fused(keys),
        entropy=_has_entropy(keys),
        entropy_chunk=_chunk(keys) if chunked else None,
        entropy_checkpointing=keys.flag(*names("actor.entropy_checkpointing")),
        torch_compile=keys.flag(f"{F}.use_torch_compile", default=True),
        temperature=or_default(keys.number(*names("rollout.temperature")), 1.0),
        lora_rank=lora_rank,
        lora_targets=_targets(keys),
        layered_summon=keys.flag(f"{R}.layered_summon"),
        reference=keys.flag(*names("actor.kl_loss")) or keys.flag(*names("algorithm.kl_in_reward")),
        rollout=_rollout(keys),
        activation_offload=keys.flag(f"{M}.enable_activation_offload"),
        val_only=keys.flag("trainer.val_only"),
    )
    if strategy == "megatron":
        job = _megatron(keys, job)
    packs = keys.flag(f"{C}.use_dynamic_bsz", default=dynamic)
    return replace(job, critic=_critic(keys, job, dynamic=packs)) if _has_critic(keys) else job


def _strategy(values: Mapping[str, object]) -> tuple[Keys, str]:
    """The keys and the strategy, FSDP2 for the engines that are like it."""
    keys = Keys(values)
    found = keys.text(*names("actor.strategy")) or "fsdp"
    if found in LIKE_FSDP2:
        keys.refuse_kept_layers(f"{A}.{found}.reshard_after_forward")
        return Keys(_as_fsdp(values, found)), "fsdp2"
    if found not in STRATEGIES:
        raise UnsupportedJobError(f"{A}.strategy is {found!r}; supported: {', '.join(STRATEGIES)}")
    if found != "megatron":
        keys.refuse_kept_layers(f"{F}.reshard_after_forward")
    return keys, found


def _as_fsdp(values: Mapping[str, object], engine: str) -> dict[str, object]:
    """The values with the engine's own table in the place of FSDP's."""
    own = f"{A}.{engine}."
    found = {key: value for key, value in values.items() if not key.lstrip("+").startswith(own)}
    for key, value in values.items():
        if key.lstrip("+").startswith(own):
            found[f"{F}.{key.lstrip('+').removeprefix(own)}"] = value
    return found


def _megatron(keys: Keys, job: Job) -> Job:
    if not keys.under(MEGATRON):  # the reader drops keys that the configuration's tree lacks
        raise UnsupportedJobError(
            f"{A}.strategy is megatron, but the configuration has no {MEGATRON}; choose it with model_engine=megatron"
        )
    return as_megatron(keys, job)


def _train_batch(keys: Keys) -> int | None:
    """None if rollouts stream in: fully_async sets 0."""
    found = keys.integer(*names("data.train_batch_size"))
    return None if found == 0 and _rollout_gpus(keys) is not None else found


def _micro_batch(keys: Keys, table: str, name: str, ranks: int) -> int | None:
    """The micro batch of one data-parallel rank. The old key without `_per_gpu` counts the sequences of all these ranks
    (verl 0.4 fsdp_workers.py: //= device_mesh.size() // ulysses_sequence_parallel_size)."""
    own = keys.integer(f"{table}.{name}_per_gpu")
    every = keys.integer(f"{table}.{name}") if own is None else None
    return own if every is None else max(1, every // ranks)


def _sequence_parallel(keys: Keys) -> int:
    """The sequence parallel size: the actor's if it is above 1, else the engine's (FSDPActorConfig.__post_init__)."""
    actor, engine = (keys.integer(f"{table}.ulysses_sequence_parallel_size") for table in (A, F))
    return actor if actor is not None and actor != 1 else or_default(engine, 1)


def _has_entropy(keys: Keys) -> bool:
    return keys.flag(f"{A}.calculate_entropy") or or_default(keys.number(*names("actor.entropy_coefficient")), 0) != 0


def _chunk(keys: Keys) -> int:
    found = keys.integer(f"{F}.entropy_from_logits_chunk_size", f"{A}.entropy_from_logits_chunk_size")
    return 2048 if found is None else found


def _fused(keys: Keys) -> str | None:
    if not keys.flag(*names("model.fused_kernels")):
        return None
    return keys.text(f"{M}.fused_kernel_options.impl_backend") or "torch"


def _targets(keys: Keys) -> tuple[str, ...]:
    found = keys.raw(*names("model.lora_targets"))
    if found is None or found[1] == "all-linear":
        return LINEARS
    value = found[1]
    layers = value.strip("[]").split(",") if isinstance(value, str) else value
    if not isinstance(layers, list | tuple) or not all(isinstance(name, str) for name in layers):
        raise BadJobError(f"{found[0]} is {value!r}; expected all-linear or a list of names")
    return tuple(name.strip(" '\"") for name in layers)


def _has_critic(keys: Keys) -> bool:
    """Whether a critic is trained: critic.enable if set, else if the estimator is GAE (verl trainer/ppo/utils.py need_critic)."""
    if keys.raw("critic.enable") is not None:
        return keys.flag("critic.enable")
    return (keys.text(*names("algorithm.advantage")) or "gae") == "gae"


def _critic_strategy(keys: Keys) -> str:
    found = keys.text(f"{C}.strategy") or "fsdp"
    return "fsdp2" if found in LIKE_FSDP2 else found


def _critic(keys: Keys, job: Job, *, dynamic: bool) -> Critic:
    return Critic(
        micro_batch=or_default(
            _micro_batch(keys, C, "ppo_micro_batch_size", max(1, job.n_gpus // job.sequence_parallel)), job.micro_batch
        ),
        max_tokens=or_default(keys.integer(f"{C}.ppo_max_token_len_per_gpu"), 32768) if dynamic else None,
        param_offload=keys.flag(*names("critic.param_offload")),
        optimizer_offload=keys.flag(*names("critic.optimizer_offload")),
        gradient_checkpointing=keys.flag(f"{C}.model.enable_gradient_checkpointing", default=True),
        remove_padding=keys.flag(f"{C}.model.use_remove_padding", default=True),
        master_dtype=keys.text(f"{C}.fsdp.model_dtype") or "fp32",
        strategy=_critic_strategy(keys),
    )


def _cache_type(keys: Keys) -> str:
    found = keys.text(f"{R}.engine_kwargs.vllm.kv_cache_dtype")
    return keys.text(f"{R}.dtype") or "bf16" if found in (None, "auto") else str(found)


def _rollout_gpus(keys: Keys) -> int | None:
    """The GPUs of rollouts that have their own (one_step_off, fully_async, separate_async); None if they share."""
    if keys.text(MODE) == SEPARATE:
        return _separate_gpus(keys)
    per_node = keys.integer("rollout.n_gpus_per_node")
    if per_node is None:
        return None
    return per_node * or_default(keys.integer("rollout.nnodes"), 1)


def _separate_gpus(keys: Keys) -> int | None:
    """None also if the trainer's GPUs have model servers beside those: they need more memory than either alone."""
    nodes = or_default(keys.integer(OWN_NODES), 0)
    if keys.flag(SHARED, default=True) or not nodes:
        return None
    return nodes * or_default(keys.integer(OWN_GPUS, *names("slurm.gpus_per_node")), 8)


def _rollout(keys: Keys) -> Rollout:
    gpus = _rollout_gpus(keys)
    return Rollout(
        utilization=or_default(keys.number(*names("rollout.gpu_memory_utilization")), 0.5),
        tensor_parallel=or_default(keys.integer(*names("rollout.tensor_parallel_size")), 2),
        max_model_len=keys.integer(*names("rollout.max_model_len")),
        max_batched_tokens=or_default(keys.integer(*names("rollout.max_batched_tokens")), 8192),
        max_seqs=or_default(keys.integer(*names("rollout.max_sequences")), 256),
        enforce_eager=keys.flag(*names("rollout.enforce_eager")),
        sleeps=keys.flag(*names("rollout.free_cache_engine"), default=True),
        dtype=keys.text(f"{R}.quantization") or keys.text(f"{R}.dtype") or "bf16",
        kv_dtype=_cache_type(keys),
        separate=gpus is not None,
        gpus=gpus,
        kv_bytes=keys.integer(f"{R}.engine_kwargs.vllm.kv_cache_memory_bytes"),
        buckets=0 if gpus is None else BUCKETS if keys.text(SENDER) == OURS else VERLS_BUCKETS,
        bucket_mib=or_default(keys.integer(f"{R}.checkpoint_engine.update_weights_bucket_megabytes"), 2048),
    )
