"""A first estimate of the seconds of one training step, by phase: a roofline of arithmetic and of memory traffic.

The shares of a GPU's peak are those of the calibration's runs on an H200 (long packed batches reach a third of it) and of
prime-rl's published benchmarks (a sixth to a third). Off-loading, the network and the environment of an agent are not in it, so a
figure may be wrong by a factor of two; the shares of the phases are closer.
"""

import math
from typing import NamedTuple

from skyrl_train.memory.device import Device
from skyrl_train.memory.job import Job
from skyrl_train.memory.lengths import Lengths
from skyrl_train.memory.parameters import active_in_model, in_embedding
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.vllm import Engine, kv_bytes_per_token

TERA = 10**12
SPEEDS = {
    "A100-40GB": (312, 1.555),
    "A100-80GB": (312, 2.039),
    "A800-80GB": (312, 2.039),
    "H100-80GB": (989, 3.35),
    "H800-80GB": (989, 3.35),
    "H20-96GB": (148, 4.0),
    "H200": (989, 4.8),
    "GH200-96GB": (989, 4.0),
    "B200": (2250, 8.0),
    "V100-32GB": (125, 0.9),
    "A10": (125, 0.6),
    "A40": (150, 0.696),
    "L4": (121, 0.3),
    "L40S": (362, 0.864),
    "A6000": (155, 0.768),
    "RTX-3090": (71, 0.936),
    "RTX-4090": (165, 1.008),
}
"""TFLOP/s in bfloat16 without sparsity and TB/s, from NVIDIA's data sheets."""
TRAINING, PREFILL, TRAFFIC = 0.3, 0.4, 0.6
"""The shares of the peak that training, prefill and decoding reach."""
PER_MICRO_BATCH_S = 0.1
PER_TOKEN_S = 0.004
"""What a micro batch and a step of decoding take at least: kernels, NCCL and Python."""


class StepTime(NamedTuple):
    """Seconds of each phase of a step."""

    rollout: float
    log_prob: float
    update: float
    apart: bool  # rollouts and training run at the same time, on different GPUs

    @property
    def total(self) -> float:
        training = self.log_prob + self.update
        return max(self.rollout, training) if self.apart else self.rollout + training


def step_time(shape: ModelShape, job: Job, engine: Engine | None, device: Device) -> StepTime | None:
    """The seconds of a step; None if the GPU's speed is unknown, nothing is trained, or prime-rl packs unknown lengths."""
    speeds, packs = SPEEDS.get(device.name), job.framework == "prime-rl"
    if speeds is None or job.val_only or (packs and job.lengths is None):
        return None
    peak, traffic = speeds[0] * TERA, speeds[1] * TERA
    prompts = job.train_batch or job.mini_batch
    sequences = max(1.0, prompts * job.n / job.n_gpus)
    typical = job.lengths.p50 if job.lengths is not None else job.longest
    length = typical if job.remove_padding or packs else job.longest
    forward = _flops(shape, length) * length * sequences / (peak * TRAINING)
    passes = (2 if job.lora_rank else 3) + job.gradient_checkpointing
    packed = job.longest * job.micro_batch if packs else job.max_tokens
    small = sequences / job.micro_batch if packed is None else math.ceil(sequences * length / packed)
    extra = job.reference + 2 * (job.critic is not None)
    logs = 0.0 if job.framework != "verl" else (1 + extra) * (forward + small * PER_MICRO_BATCH_S / 3)
    models = 1 + (job.critic is not None)
    update = models * (passes * forward + small * PER_MICRO_BATCH_S)
    rollout = 0.0 if engine is None or job.rollout is None else _rollout(shape, job, engine, peak, traffic)
    return StepTime(rollout, logs, update, apart=job.rollout is not None and job.rollout.separate)


def _flops(shape: ModelShape, length: float) -> float:
    """Of a forward pass for one token: two for each parameter, and the attention over half the sequence."""
    used = active_in_model(shape) - (0 if shape.tied else in_embedding(shape))
    return 2 * used + 2 * shape.full_attention * shape.query_size * length


def _rollout(shape: ModelShape, job: Job, engine: Engine, peak: float, traffic: float) -> float:
    """Decoding in rounds of as many sequences as fit; the last round ends with the longest reply."""
    rollout = job.rollout
    assert rollout is not None
    gpus = rollout.gpus or job.n_gpus
    size = rollout.tensor_parallel
    sequences = max(1.0, (job.train_batch or job.mini_batch) * job.n * size / gpus)
    reply = job.reply or Lengths(job.response_length, job.response_length)
    length = job.lengths.p50 if job.lengths is not None else job.longest
    at_once = max(1.0, min(sequences, rollout.max_seqs, engine.kv_tokens / length))
    held = at_once * length * kv_bytes_per_token(shape, rollout)
    read = (engine.weights + held) / (traffic * TRAFFIC)
    compute = _flops(shape, length) * at_once / size / (peak * TRAINING)
    rounds = sequences / at_once
    decoding = (reply.p99 + max(0.0, rounds - 1) * reply.p50) * (max(read, compute) + PER_TOKEN_S)
    prompts = max(0, length - reply.p50) * sequences
    return decoding + _flops(shape, length) * prompts / size / (peak * PREFILL)
