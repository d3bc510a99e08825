"""The memory model's job of a SkyRL run, from SkyRL's own keys and defaults (skyrl/train/config/config.py)."""

from collections.abc import Mapping
from dataclasses import replace

from skyrl_train.memory import Job, Rollout, UnsupportedJobError
from skyrl_train.memory.keys import Keys, or_default
from skyrl_train.memory.megatron_job import as_megatron

POLICY, PLACEMENT, ENGINE = "trainer.policy", "trainer.placement", "generator.inference_engine"
PROMPT, RESPONSE, INPUT = (
    "trainer.max_prompt_length",
    "generator.sampling_params.max_generate_length",
    "generator.max_input_length",
)
STRATEGIES = {"fsdp": "fsdp2", "fsdp2": "fsdp2", "megatron": "megatron"}
"""SkyRL's `fsdp` is FSDP2."""
CHUNK = 1024
"""logprobs_chunk_size: the tokens of each sequence whose entropy is computed at once."""
MEGATRON_CHUNK = 256
"""vocab_entropy_chunk_size 0: as many tokens as take 512 MiB, for a vocabulary of 150,000 on one GPU."""
MEGATRON_CHUNK_MB = 512
"""The default of vocab_entropy_chunk_memory_mb."""


def is_sft(values: Mapping[str, object]) -> bool:
    """Whether these are keys of the fine-tuning program, which has no table `trainer`."""
    return any(key.startswith(("placement.", "model.path", "batch_size")) for key in values)


def skyrl_job(values: Mapping[str, object]) -> Job:
    """The job that these keys describe."""
    keys = Keys(values)
    if is_sft(values):
        return _sft(keys)
    prompt = or_default(keys.integer(PROMPT), 512)
    response = or_default(keys.integer(RESPONSE), 1024)
    longest = max(or_default(keys.integer(INPUT), prompt), prompt) + response
    together = keys.flag(f"{PLACEMENT}.colocate_all", default=True)
    job = Job(
        prompt_length=prompt,
        response_length=longest - prompt,
        micro_batch=or_default(keys.integer("trainer.micro_train_batch_size_per_gpu"), 1),
        log_prob_micro_batch=or_default(keys.integer("trainer.micro_forward_batch_size_per_gpu"), 1),
        ref_micro_batch=or_default(keys.integer("trainer.micro_forward_batch_size_per_gpu"), 1),
        mini_batch=or_default(keys.integer("trainer.policy_mini_batch_size"), 256),
        train_batch=or_default(keys.integer("trainer.train_batch_size"), 1024),
        n=or_default(keys.integer("generator.n_samples_per_prompt"), 5),
        reference=keys.flag("trainer.algorithm.use_kl_loss", default=True)
        or keys.flag("trainer.algorithm.use_kl_in_reward"),
        # trainer and engines take turns on a GPU, so the trainer moves to the host while the engines run
        param_offload=together,
        optimizer_offload=together,
        rollout=_rollout(keys, separate=not together),
        n_gpus=_gpus(keys, PLACEMENT, "policy_num"),
        torch_compile=False,
    )
    return _trained(keys, job, "trainer", POLICY)


def _sft(keys: Keys) -> Job:
    """Supervised fine-tuning (skyrl/train/config/sft_config.py)."""
    length = or_default(keys.integer("max_length"), 4096)
    job = Job(
        prompt_length=1,
        response_length=max(1, length - 1),
        micro_batch=or_default(keys.integer("micro_train_batch_size_per_gpu"), 2),
        mini_batch=or_default(keys.integer("batch_size"), 4),
        n_gpus=_gpus(keys, "placement", "num"),
        framework="sft",
        rollout=None,
        torch_compile=False,
    )
    return _trained(keys, job, "", "", strategy="megatron")


def _trained(keys: Keys, job: Job, trainer: str, policy: str, *, strategy: str = "fsdp") -> Job:
    """The settings that both programs have, under these tables."""

    def own(table: str, name: str) -> str:
        return f"{table}.{name}" if table else name

    named = keys.text(own(trainer, "strategy")) or strategy
    if named not in STRATEGIES:
        raise UnsupportedJobError(f"{own(trainer, 'strategy')} is {named!r}; supported: {', '.join(STRATEGIES)}")
    limit = keys.integer(own(trainer, "max_tokens_per_microbatch"))
    rank = or_default(keys.integer(own(policy, "model.lora.rank")), 0)
    job = replace(
        job,
        strategy=STRATEGIES[named],
        max_tokens=limit if limit is not None and limit > 0 else None,
        log_prob_max_tokens=limit if limit is not None and limit > 0 else None,
        gradient_checkpointing=keys.flag(own(trainer, "gradient_checkpointing"), default=True),
        sequence_parallel=or_default(keys.integer(own(policy, "sequence_parallel_size")), 1),
        offload_policy=keys.flag(own(policy, "fsdp_config.cpu_offload")),
        lora_rank=rank,
    )
    if named != "megatron":
        keys.refuse_kept_layers(own(policy, "fsdp_config.reshard_after_forward"))
        packs = keys.flag(own(trainer, "remove_microbatch_padding"), own(trainer, "use_sample_packing"), default=True)
        chunk = or_default(keys.integer(own(trainer, "logprobs_chunk_size")), CHUNK)
        return _with_entropy(keys, job, chunk if packs else chunk * job.micro_batch)
    table = own(policy, "megatron_config")
    kept = job.param_offload, job.optimizer_offload
    megatron = as_megatron(keys, job, table)
    entropy_chunk = _megatron_chunk(keys, own(trainer, "vocab_entropy_chunk"))
    fused = keys.flag(own(trainer, "fused_lm_head_logprob"))
    megatron = replace(megatron, fused_kernels="torch" if fused else None)
    return replace(
        megatron if job.framework == "sft" else _with_entropy(keys, megatron, entropy_chunk),
        gradient_checkpointing=keys.text(f"{table}.transformer_config_kwargs.recompute_granularity") != "selective",
        param_offload=kept[0],
        grad_offload=kept[0],
        optimizer_offload=kept[1] or keys.flag(f"{table}.optimizer_config_kwargs.optimizer_cpu_offload"),
    )


def _megatron_chunk(keys: Keys, name: str) -> int | None:
    """The tokens of a chunk of the entropy; None if it is not computed in chunks."""
    if keys.is_null(f"{name}_size"):
        return None
    size = or_default(keys.integer(f"{name}_size"), 0)
    memory = or_default(keys.integer(f"{name}_memory_mb"), MEGATRON_CHUNK_MB)
    return size or max(1, MEGATRON_CHUNK * memory // MEGATRON_CHUNK_MB)


def _with_entropy(keys: Keys, job: Job, chunk: int | None) -> Job:
    """SkyRL computes the entropy in the update alone, in chunks, and without a gradient unless it is in the loss
    (skyrl/backends/skyrl_train/workers/worker.py)."""
    return replace(
        job,
        entropy=True,
        entropy_gradient=keys.flag("trainer.algorithm.use_entropy_loss"),
        entropy_chunk=chunk,
        log_prob_entropy=False,
    )


def _gpus(keys: Keys, table: str, name: str) -> int:
    per_node = or_default(keys.integer(f"{table}.{name}_gpus_per_node"), 1)
    return per_node * or_default(keys.integer(f"{table}.{name}_nodes"), 1)


def _rollout(keys: Keys, *, separate: bool) -> Rollout:
    def number(name: str, *older: str) -> float | None:
        return keys.number(f"{ENGINE}.{name}", *older)

    size = keys.integer(f"{ENGINE}.tensor_parallel_size", "generator.inference_engine_tensor_parallel_size")
    engines = keys.integer(f"{ENGINE}.num_engines", "generator.num_inference_engines")
    return Rollout(
        utilization=or_default(number("gpu_memory_utilization", "generator.gpu_memory_utilization"), 0.8),
        tensor_parallel=or_default(size, 1),
        max_model_len=keys.integer(
            f"{ENGINE}.engine_init_kwargs.max_model_len", "generator.engine_init_kwargs.max_model_len"
        ),
        max_batched_tokens=or_default(keys.integer(f"{ENGINE}.max_num_batched_tokens"), 8192),
        max_seqs=or_default(keys.integer(f"{ENGINE}.max_num_seqs"), 1024),
        enforce_eager=keys.flag(f"{ENGINE}.enforce_eager", "generator.enforce_eager", default=True),
        separate=separate,
        gpus=or_default(engines, 1) * or_default(size, 1) if separate else None,
        bucket_mib=1024,
    )
