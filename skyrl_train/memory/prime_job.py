"""A Job from the keys of a prime-rl TOML, flat and dotted, as it was when trainer and vLLM could share a GPU (2025).

prime-rl trains by FSDP2 with float32 master weights, packs its samples to seq_len, never recomputes log-probs before the
update, and its vLLM does not sleep. Today's prime-rl gives each a GPU of its own: then `rollout` is None here.
"""

from collections.abc import Mapping
from dataclasses import replace

from skyrl_train.memory.errors import UnsupportedJobError
from skyrl_train.memory.job import Job, Rollout
from skyrl_train.memory.keys import Keys, or_default

TRAINER, INFERENCE = "trainer.model", "inference"
PACKED = f"{TRAINER}.seq_len"
"""Samples are packed to this length, independent of the orchestrator's limit."""
SEQ_LEN = 2048  # prime-rl's default of trainer.model.seq_len


def job_from_prime(values: Mapping[str, object]) -> Job:
    """The job that these keys describe, as the trainer's first GPU sees it."""
    keys = Keys(values)
    length = or_default(keys.integer(PACKED, "seq_len"), SEQ_LEN)
    job = Job(
        prompt_length=1,
        response_length=max(1, length - 1) if length > 0 else length,
        micro_batch=or_default(keys.integer("trainer.micro_batch_size"), 1),
        mini_batch=or_default(keys.integer("orchestrator.batch_size"), 128),
        n_gpus=_trainers(keys),
        offload_policy=keys.flag(f"{TRAINER}.fsdp_cpu_offload"),
        gradient_checkpointing=keys.under(f"{TRAINER}.ac"),
        lora_rank=or_default(keys.integer(f"{TRAINER}.lora.rank", f"{TRAINER}.experimental.lora.rank"), 0),
    )
    return as_prime(job, _rollout(keys) if _shares(keys) else None)


def as_prime(job: Job, rollout: Rollout | None, *, spares_logits: bool = False) -> Job:
    """The job as prime-rl trains it: FSDP2, log-probs in torch, nothing compiled.

    Releases since 2026 never hold the logits of all tokens (fused_lm_head_token_chunk_size).
    """
    return replace(
        job,
        framework="prime-rl",
        strategy="fsdp2",
        flash_cross_entropy=spares_logits,
        fused_kernels="triton" if spares_logits else None,
        torch_compile=False,
        rollout=rollout,
    )


def trains(values: Mapping[str, object]) -> bool:
    """Whether a program that is started by hand trains a model. The orchestrator and the inference server do not."""
    first = {key.split(".")[0] for key in values}
    is_trainer = _is_sft(values) or bool(first & {"optim", "loss", "ckpt", "weight_broadcast"})
    return is_trainer and not first & {"sampling", "env", "server", "train"}


def _is_sft(values: Mapping[str, object]) -> bool:
    return any(
        key.startswith(("data.seq_len", "data.batch_size", "data.micro_batch_size", "data.name")) for key in values
    )


def part_job(values: Mapping[str, object]) -> Job:
    """The job of one program that is started by hand: the trainer of a run, or fine-tuning."""
    keys = Keys(values)
    is_sft = _is_sft(values)
    if not trains(values):
        raise UnsupportedJobError("this program of prime-rl trains no model; pass the file of `rl`, `trainer` or `sft`")
    length = or_default(keys.integer("data.seq_len" if is_sft else "model.seq_len"), SEQ_LEN)
    job = Job(
        prompt_length=1,
        response_length=max(1, length - 1),
        micro_batch=or_default(keys.integer("data.micro_batch_size"), 1),
        mini_batch=or_default(keys.integer("data.batch_size"), 128),
        lora_rank=or_default(keys.integer("model.lora.rank"), 0),
    )
    gpus = or_default(keys.integer("deployment.num_gpus", "deployment.num_train_gpus"), 1)
    job = replace(
        as_prime(job, None, spares_logits=True), framework="sft" if is_sft else "prime-rl", whole_cross_entropy=is_sft
    )
    return with_model_settings(job, values, "model", gpus=gpus)


def with_model_settings(job: Job, values: Mapping[str, object], table: str, *, gpus: int) -> Job:
    """The job with prime-rl's settings of the trained model: what is off-loaded, recomputed and divided."""
    keys = Keys(values)
    keys.refuse_kept_layers(f"{table}.reshard_after_forward")
    context = or_default(keys.integer(f"{table}.cp"), 1)
    experts = keys.raw(f"{table}.ep")
    return replace(
        job,
        n_gpus=gpus,
        sequence_parallel=context if gpus % context == 0 else 1,
        expert_parallel=experts[1] if experts is not None and isinstance(experts[1], int) else 1,
        activation_offload=keys.under(f"{table}.ac_offloading"),
        optimizer_offload=job.optimizer_offload or keys.flag(f"{table}.optim_cpu_offload"),
        offload_policy=job.offload_policy or keys.flag(f"{table}.fsdp_cpu_offload"),
    )


def _gpus(keys: Keys, name: str) -> tuple[object, ...]:
    found = keys.raw(name)
    value = found[1] if found else (0,)
    if isinstance(value, str):
        value = tuple(part.strip() for part in value.strip("[]").split(","))
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _trainers(keys: Keys) -> int:
    return max(1, len(_gpus(keys, "trainer_gpu_ids")))


def _shares(keys: Keys) -> bool:
    both = keys.raw("trainer_gpu_ids"), keys.raw("inference_gpu_ids")
    return None not in both and bool(
        {str(one) for one in _gpus(keys, "trainer_gpu_ids")} & {str(one) for one in _gpus(keys, "inference_gpu_ids")}
    )


def _rollout(keys: Keys) -> Rollout:
    return Rollout(
        utilization=or_default(keys.number(f"{INFERENCE}.gpu_memory_utilization"), 0.9),
        max_model_len=keys.integer(f"{INFERENCE}.model.max_model_len"),
        enforce_eager=keys.flag(f"{INFERENCE}.model.enforce_eager"),
        sleeps=False,
    )
