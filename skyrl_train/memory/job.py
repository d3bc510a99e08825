"""All settings of a run that affect memory, with the defaults of verl 0.9.1.

(verl/trainer/config/_generated_ppo_trainer.yaml.) `job_from_verl` in verl_job.py fills it from verl's own keys.
"""

import math
from dataclasses import fields
from typing import Any

from skyrl_train.config.parallel import Parallel
from skyrl_train.contracts.record import record
from skyrl_train.memory.errors import BadJobError, UnsupportedJobError
from skyrl_train.memory.lengths import Lengths
from skyrl_train.memory.parameters import LINEARS
from skyrl_train.memory.units import DTYPE_BYTES, SERVED_BYTES

ATTENTIONS = ("flash_attention_2", "sdpa", "eager")
STRATEGIES = ("fsdp", "fsdp2", "megatron")
FUSED = ("torch", "triton")
DTYPES, SERVED = tuple(DTYPE_BYTES), tuple(SERVED_BYTES)
"""The precisions of the trainer, and of vLLM."""


WHOLE = Parallel()


def check_count(name: str, value: Any, *, at_least: int = 1, at_most: int = 1_000_000_000) -> None:
    """BadJobError unless the value is a whole number in its range."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadJobError(f"{name} is {value!r}; expected a whole number")
    if not at_least <= value <= at_most:
        raise BadJobError(f"{name} is {value}; expected {at_least} to {at_most}")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise BadJobError(f"{name} is {value!r}; expected one of {', '.join(choices)}")


@record(kw_only=True)
class Rollout:
    """The vLLM engine: on the trainer's GPUs, or on GPUs of its own."""

    utilization: float = 0.5
    tensor_parallel: int = 1
    max_model_len: int | None = None
    max_batched_tokens: int = 8192
    max_seqs: int = 256
    enforce_eager: bool = False
    sleeps: bool = True  # verl: rollout.free_cache_engine
    separate: bool = False  # on other GPUs than the trainer
    gpus: int | None = None  # the GPUs of all engines, if they are separate
    dtype: str = "bf16"
    kv_dtype: str = "bf16"
    kv_bytes: int | None = None  # engine_kwargs.vllm.kv_cache_memory_bytes: fixes the KV cache, whatever the share
    bucket_mib: int = 2048  # rollout.checkpoint_engine.update_weights_bucket_megabytes
    buckets: int = 0  # of a process beside each separate engine, which receives the weights; 0 without such a process

    def __post_init__(self) -> None:
        value = self.utilization
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise BadJobError(f"gpu_memory_utilization is {value!r}; expected a number above 0 and at most 1")
        if not 0 < value <= 1:
            raise BadJobError(f"gpu_memory_utilization is {value}; expected a number above 0 and at most 1")
        for name in ("tensor_parallel", "max_batched_tokens", "max_seqs", "bucket_mib"):
            check_count(name, getattr(self, name))
        for name in ("max_model_len", "kv_bytes"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), at_most=10**15)
        check_choice("rollout dtype", self.dtype, SERVED)
        check_choice("rollout kv dtype", self.kv_dtype, SERVED)


@record(kw_only=True)
class Critic:
    """The critic of GAE: a second model with a value head, trained in the same process."""

    micro_batch: int = 1
    max_tokens: int | None = None
    param_offload: bool = False
    optimizer_offload: bool = False
    gradient_checkpointing: bool = True
    remove_padding: bool = True
    master_dtype: str = "fp32"
    strategy: str = "fsdp"

    def __post_init__(self) -> None:
        check_count("critic micro_batch", self.micro_batch)
        if self.max_tokens is not None:
            check_count("critic max_tokens", self.max_tokens)
        check_choice("critic dtype", self.master_dtype, DTYPES)
        check_choice("critic strategy", self.strategy, STRATEGIES)


@record(kw_only=True)
class Job:
    """The settings of a run. Micro batches count sequences per GPU; lengths count tokens."""

    prompt_length: int
    response_length: int
    micro_batch: int = 1
    log_prob_micro_batch: int = 1
    ref_micro_batch: int = 1
    mini_batch: int = 256  # prompts; with n responses each, over all GPUs
    n: int = 1
    train_batch: int | None = None  # prompts of a step; more than mini_batch makes several updates
    max_tokens: int | None = None  # use_dynamic_bsz: tokens of a micro batch, instead of sequences
    log_prob_max_tokens: int | None = None
    sequence_length: int | None = None  # the longest that occurs; prompt + response if unknown
    lengths: Lengths | None = None  # those that occur, if they are known; only packed sequences have their own length
    reply: Lengths | None = None  # of the replies alone
    mixed_lengths: bool = False  # sequences of all lengths, which fill a dynamic micro batch
    equal_lengths: bool = False  # all sequences of a micro batch are of one length, so that attention needs no mask
    n_gpus: int = 1
    parallel: Parallel = WHOLE  # Megatron's sizes
    expert_parallel: int = 1  # GPUs over which FSDP's experts are divided, so that they are not gathered
    distributed_optimizer: bool = True
    grad_offload: bool = False
    activation_offload: bool = False  # the inputs of checkpointed layers wait on the host
    fsdp_size: int = -1
    sequence_parallel: int = 1
    strategy: str = "fsdp"
    master_dtype: str = "fp32"
    param_dtype: str = "bf16"
    reduce_dtype: str = "fp32"
    param_offload: bool = False
    optimizer_offload: bool = False
    offload_policy: bool = False  # FSDP2's own: parameters, gradients and states stay on the host
    use_orig_params: bool = False
    gradient_checkpointing: bool = True
    remove_padding: bool = True
    attention: str = "flash_attention_2"
    whole_cross_entropy: bool = False  # torch's cross-entropy of all tokens at once, in float32
    flash_cross_entropy: bool = True  # flash-attn is installed: log-probs by its kernel
    fused_kernels: str | None = None
    entropy: bool = False  # in the update
    entropy_gradient: bool = True  # of the update's; SkyRL's is a figure without a gradient unless it is in the loss
    log_prob_entropy: bool = True  # verl computes it beside the old log-probs
    entropy_chunk: int | None = None  # entropy_from_logits_with_chunking: its chunk size
    entropy_checkpointing: bool = False
    torch_compile: bool = True
    temperature: float = 1.0
    lora_rank: int = 0
    lora_targets: tuple[str, ...] = LINEARS
    layered_summon: bool = False  # to send the adapters, FSDP1 gathers the model on the host and not on the GPU
    reference: bool = False  # KL in the loss or in the reward
    critic: Critic | None = None
    rollout: Rollout | None = Rollout()
    framework: str = "verl"  # "sft": a loss on given tokens, without rollouts
    val_only: bool = False  # rollouts alone

    def __post_init__(self) -> None:
        for name in ("prompt_length", "response_length", "micro_batch", "log_prob_micro_batch", "ref_micro_batch"):
            check_count(name, getattr(self, name))
        for name in ("mini_batch", "n", "n_gpus", "sequence_parallel"):
            check_count(name, getattr(self, name))
        check_count("lora_rank", self.lora_rank, at_least=0, at_most=65_536)
        for name in ("train_batch", "max_tokens", "log_prob_max_tokens", "sequence_length", "entropy_chunk"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        check_choice("strategy", self.strategy, STRATEGIES)
        if self.attention not in ATTENTIONS:
            raise UnsupportedJobError(
                f"attention {self.attention!r} is not supported; supported: {', '.join(ATTENTIONS)}"
            )
        check_choice("framework", self.framework, ("verl", "prime-rl", "sft"))
        for name in ("master_dtype", "param_dtype", "reduce_dtype"):
            check_choice(name, getattr(self, name), DTYPES)
        if self.fused_kernels is not None:
            check_choice("fused_kernels", self.fused_kernels, FUSED)
        self._check_together()

    def _check_together(self) -> None:
        for field in fields(self):
            if field.type is bool and not isinstance(getattr(self, field.name), bool):
                raise BadJobError(f"{field.name} is {getattr(self, field.name)!r}; expected true or false")
        unknown = [name for name in self.lora_targets if name not in LINEARS]
        if unknown:
            raise UnsupportedJobError(f"lora_targets contains {unknown[0]!r}; supported: {', '.join(LINEARS)}")
        if self.n_gpus % self.sequence_parallel:
            raise BadJobError(_undivided("sequence_parallel", self.sequence_parallel, self.n_gpus))
        if self.n_gpus % self.parallel.model_ranks:
            raise BadJobError(
                f"tensor x pipeline x context parallel is {self.parallel.model_ranks}, which does not divide the {_gpus(self.n_gpus)} of the trainer"
            )
        if self.rollout is not None and not self.rollout.separate and self.n_gpus % self.rollout.tensor_parallel:
            raise BadJobError(_undivided("tensor_parallel", self.rollout.tensor_parallel, self.n_gpus))
        longest = self.prompt_length + self.response_length
        if self.sequence_length is not None and self.sequence_length > longest:
            raise BadJobError(f"sequence_length is {self.sequence_length}, but prompt + response is only {longest}")

    @property
    def shards(self) -> int:
        """The number of GPUs over which FSDP shards the parameters (verl workers/engine/fsdp/utils.py create_device_mesh)."""
        return self.n_gpus if self.fsdp_size < 0 or self.fsdp_size >= self.n_gpus else self.fsdp_size

    @property
    def replica(self) -> int:
        """The GPUs that work on one micro batch together."""
        return self.parallel.model_ranks if self.strategy == "megatron" else self.sequence_parallel

    @property
    def _token_shares(self) -> int:
        """The GPUs over which the tokens of a micro batch are divided."""
        sizes = self.parallel
        return sizes.tensor * sizes.context if self.strategy == "megatron" else self.sequence_parallel

    @property
    def longest(self) -> int:
        return self.sequence_length or self.prompt_length + self.response_length

    def tokens(self, sequences: int, limit: int | None, prompts: int | None = None) -> int:
        """The most tokens of one micro batch on one GPU. `prompts` is the batch that dynamic micro batches divide."""
        tokens = sequences * self.longest
        if self.lengths is not None and self.remove_padding:
            tokens = min(tokens, self.lengths.of(sequences, self.n))
        if limit is not None:
            batch = max(1, (prompts or self.mini_batch) * self.n * self.replica // self.n_gpus)
            tokens = self._packed(limit, batch)
        return -(-tokens // self._token_shares)

    def _packed(self, limit: int, sequences: int) -> int:
        """The most tokens of a dynamic micro batch, which holds whole sequences.

        verl utils/seqlen_balancing.py rearrange_micro_batches: as many batches of about the same size as keep each within
        the limit. With `mixed_lengths` the limit is filled. With `lengths` it is the middle of what the mean and the
        largest batch give: just above four full batches are five that are four fifths full.
        """
        limit *= self.parallel.context if self.strategy == "megatron" else self.sequence_parallel
        if self.mixed_lengths and self.lengths is None:
            return min(max(limit, self.longest), sequences * self.longest)
        if self.lengths is not None:
            totals = (self.lengths.mean * sequences, self.lengths.of(sequences, self.n))
            sizes = [total / -(-total // limit) for total in totals]
            return max(min(self.lengths.p99, *map(round, totals)), round(sum(sizes) / len(sizes)))
        batches = -(-sequences // max(1, limit // self.longest))
        return -(-sequences // batches) * self.longest


def _undivided(name: str, size: int, n_gpus: int) -> str:
    return (
        f"{name} is {size}, which does not divide the {_gpus(n_gpus)} of the trainer; change it or the number of GPUs"
    )


def _gpus(count: int) -> str:
    return f"{count} GPU" if count == 1 else f"{count} GPUs"
