"""The GPU memory of vLLM 0.24.0: a share of the TOTAL memory, whatever else uses the GPU.

vllm/v1/worker/utils.py request_memory: requested = total x gpu_memory_utilization, and the engine refuses to start if
less is free. The rest of the share, without the weights and the profiled peak, becomes the KV cache.
"""

from typing import NamedTuple

from skyrl_train.memory.device import Device
from skyrl_train.memory.job import Rollout
from skyrl_train.memory.parameters import in_model
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.units import BF16, FP32, GIB, SERVED_BYTES

# v1/sample/sampler.py with logprobs_mode "processed_logprobs", as verl sets it: the model's logits, the float32 ones,
# log-probs, probabilities, and the exponential draws of topk_topp_sampler.py random_sample
SAMPLER = BF16 + 4 * FP32
# Measured on an H200: the memory of a sleeping engine without its graphs (0.4 to 0.9 GiB); memory outside torch
# (non_torch_increase, 0.2 GiB); the graphs (0.3 GiB for both measured models).
CONTEXT = round(0.65 * GIB)
OUTSIDE = round(0.22 * GIB)
GRAPHS = round(0.32 * GIB)
# Measured on two H100s with tensor parallel 2, without NCCL's NVLS: NCCL's buffers, beside the context and in the profile
CONTEXT_OF_RANKS = round(2.33 * GIB)
OUTSIDE_OF_RANKS = round(0.72 * GIB)


class Engine(NamedTuple):
    """Bytes of the vLLM process on one GPU."""

    requested: int
    weights: int
    work: int  # the peak of one forward pass, which profiling found
    kv: int
    graphs: int
    context: int
    kv_needed: int  # one sequence of the longest length
    kv_tokens: int  # how many tokens the KV cache holds
    outside: int = OUTSIDE

    @property
    def fixed(self) -> int:
        """Bytes of the share that are not for the KV cache."""
        return self.weights + self.work + self.outside + self.graphs

    @property
    def awake(self) -> int:
        """Bytes while awake. The share does not include the CUDA context, which is made before (gpu_worker.py init_device)."""
        return max(self.requested, self.weights + self.work + self.graphs + self.kv) + self.context

    @property
    def asleep(self) -> int:
        """Bytes while asleep: the context and the graphs stay, weights and KV cache are released."""
        return self.context + self.graphs

    @property
    def syncing(self) -> int:
        """Bytes while only the weights are awake."""
        return self.asleep + self.weights


def kv_bytes_per_token(shape: ModelShape, rollout: Rollout) -> int:
    """Of the layers that keep every token; latent attention keeps one compressed vector, on every GPU."""
    if shape.latent is not None:
        return shape.layers * (shape.latent.kv_rank + shape.latent.rotated) * SERVED_BYTES[rollout.kv_dtype]
    if shape.wide is not None:
        return shape.wide.layers * _kv_in_layer(shape.wide.kv_heads, shape.wide.head_dim, rollout)
    return (shape.full_attention - shape.windowed) * _kv_in_layer(shape.kv_heads, shape.head_dim, rollout)


def _kv_in_layer(heads: int, head_dim: int, rollout: Rollout) -> int:
    return 2 * max(1, heads // rollout.tensor_parallel) * head_dim * SERVED_BYTES[rollout.kv_dtype]


def _work(shape: ModelShape, rollout: Rollout) -> int:
    """Bytes at the profiled peak: a forward pass of the most tokens, or sampling for the most sequences."""
    wide = 3 * shape.mlp_size // rollout.tensor_parallel + 4 * shape.hidden
    forward = rollout.max_batched_tokens * wide * SERVED_BYTES[rollout.dtype]
    return max(forward, rollout.max_seqs * shape.vocab * SAMPLER)


def engine_of(shape: ModelShape, rollout: Rollout, device: Device, longest: int) -> Engine:
    requested = round(device.total * rollout.utilization)
    weights = in_model(shape) * SERVED_BYTES[rollout.dtype] // rollout.tensor_parallel
    work = _work(shape, rollout)
    context, outside = (CONTEXT_OF_RANKS, OUTSIDE_OF_RANKS) if rollout.tensor_parallel > 1 else (CONTEXT, OUTSIDE)
    # gpu_worker.py determine_available_memory: the estimate of the graphs comes off (…_ESTIMATE_CUDAGRAPHS, on)
    graphs = 0 if rollout.enforce_eager else GRAPHS
    left = requested - weights - work - outside - graphs
    kv = rollout.kv_bytes if rollout.kv_bytes is not None else max(0, left)
    each = kv_bytes_per_token(shape, rollout)
    length = rollout.max_model_len or longest
    windows = shape.windowed * min(shape.window or 0, length) * _kv_in_layer(shape.kv_heads, shape.head_dim, rollout)
    return Engine(
        requested=requested,
        weights=weights,
        work=work,
        kv=kv,
        graphs=graphs,
        context=context,
        kv_needed=-(-length // 16) * 16 * each + windows,
        kv_tokens=max(0, kv - windows) // each,
        outside=outside,
    )
