"""What log-probs and updates of a step do on one GPU, counted by kind of work."""

import math
from dataclasses import replace
from typing import NamedTuple

from skyrl_train.memory.job import Job
from skyrl_train.memory.parameters import active_in_model, in_embedding, in_model
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.trained import critic_of
from skyrl_train.memory.units import DTYPE_BYTES

GB = 10**9
ADAM_STATES = 2


class Work(NamedTuple):
    """Amounts of each kind of work. The cost of each kind, in seconds, has the same fields."""

    arithmetic: float = 0  # seconds at the GPU's peak
    launches: float = 0  # layers x micro batches x passes
    gathers: float = 0  # of these, with weights that FSDP gathers from other GPUs
    adapters: float = 0  # of these, with LoRA: FSDP wraps each adapter by itself
    rows: float = 0  # tokens whose log-prob is computed one by one, where flash-attn's cross-entropy is missing
    rows_back: float = 0  # the same in a backward pass
    moved: float = 0  # GB that are loaded from the host and off-loaded again

    def seconds(self, costs: "Work") -> float:
        return sum(amount * cost for amount, cost in zip(self, costs, strict=True))


def log_prob_work(shape: ModelShape, job: Job, peak: float) -> Work:
    """The old log-probs, those of a reference, and the values of a critic. Only verl computes them apart from the update."""
    if job.framework != "verl":
        return Work()
    parts = [_forward(shape, job, peak, job.log_prob_micro_batch)]
    if job.reference:
        base = replace(job, lora_rank=0)  # with LoRA the reference is the actor without its adapters
        parts.append(_forward(shape, base, peak, job.ref_micro_batch))
    critic = critic_of(shape, job)
    if critic is not None:
        parts.append(_forward(shape, critic.job, peak, critic.job.log_prob_micro_batch, head=False))
    return _sum(parts)


def update_work(shape: ModelShape, job: Job, peak: float) -> Work:
    """The updates of the actor and of a critic."""
    critic = critic_of(shape, job)
    parts = [_update(shape, job, peak, head=True)]
    return _sum(parts if critic is None else [*parts, _update(shape, critic.job, peak, head=False)])


def flops(shape: ModelShape, length: float) -> float:
    """Of a forward pass for one token: two for each parameter, and the attention over half the sequence."""
    used = active_in_model(shape) - (0 if shape.tied else in_embedding(shape))
    return 2 * used + 2 * shape.full_attention * shape.query_size * length


def _forward(shape: ModelShape, job: Job, peak: float, micro_batch: int, *, head: bool = True) -> Work:
    layers = _layers(shape, job) * _micro_batches(job, micro_batch, job.log_prob_max_tokens or job.max_tokens, 1)
    return Work(
        arithmetic=_arithmetic(shape, job, peak),
        launches=layers,
        gathers=layers * _gathers(job),
        adapters=layers * (job.lora_rank > 0),
        rows=_rows(job) * head,
        moved=_state_gb(shape, job) * job.param_offload,
    )


def _update(shape: ModelShape, job: Job, peak: float, *, head: bool) -> Work:
    """Forward and backward; the backward pass is two, without the gradients of frozen weights one, and with checkpointing one more."""
    updates = max(1, round((job.train_batch or job.mini_batch) / job.mini_batch))
    passes = 3 + job.gradient_checkpointing
    layers = passes * _layers(shape, job) * _micro_batches(job, job.micro_batch, job.max_tokens, updates)
    states = ADAM_STATES * job.optimizer_offload * (not job.lora_rank)
    return Work(
        arithmetic=(passes - (job.lora_rank > 0)) * _arithmetic(shape, job, peak),
        launches=layers,
        gathers=layers * _gathers(job),
        adapters=layers * (job.lora_rank > 0),
        rows=_rows(job) * head,
        rows_back=_rows(job) * head,
        moved=_state_gb(shape, job) * (job.param_offload + states),
    )


def _sum(parts: list[Work]) -> Work:
    return Work(*map(sum, zip(*parts, strict=True)))


def _layers(shape: ModelShape, job: Job) -> float:
    return shape.layers / job.parallel.pipeline if job.strategy == "megatron" else shape.layers


def _gathers(job: Job) -> bool:
    return job.shards > 1 and job.strategy != "megatron"


def _sequences(job: Job) -> float:
    """Of a step, for each GPU."""
    return max(1.0, (job.train_batch or job.mini_batch) * job.n / job.n_gpus)


def typical_length(job: Job) -> int:
    return job.lengths.p50 if job.lengths is not None else job.longest


def _computed_length(job: Job) -> int:
    """The tokens that a sequence takes in the trainer: with its padding, unless that is removed."""
    return typical_length(job) if job.remove_padding or job.framework == "prime-rl" else job.longest


def _micro_batches(job: Job, size: int, max_tokens: int | None, updates: int) -> int:
    """The micro batches of a step on one GPU, at least one in each update."""
    sequences, tokens = _sequences(job) / updates, max_tokens
    if job.framework == "prime-rl":  # packs samples into rows of its sequence length
        tokens = job.longest * job.micro_batch
    if tokens is not None:
        return updates * max(1, math.ceil(sequences * _computed_length(job) / tokens))
    return updates * max(1, math.ceil(sequences * job.replica / size))


def _arithmetic(shape: ModelShape, job: Job, peak: float) -> float:
    length = _computed_length(job)
    return flops(shape, length) * length * _sequences(job) / peak


def _rows(job: Job) -> float:
    """verl utils/torch_functional.py logprobs_from_logits_v2: a loop over tokens, without padding."""
    kernel = job.flash_cross_entropy or job.fused_kernels is not None or job.strategy == "megatron"
    return 0 if kernel or job.framework != "verl" else _sequences(job) * typical_length(job)


def _state_gb(shape: ModelShape, job: Job) -> float:
    """The weights of a GPU, or one of Adam's two states."""
    return in_model(shape) * DTYPE_BYTES[job.master_dtype] / job.shards / GB
