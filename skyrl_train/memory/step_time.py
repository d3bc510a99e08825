"""An estimate of the seconds of one training step, by phase.

In the measured runs the host, which launches kernels layer by layer and row by row, takes more time than the arithmetic: small
batches run far below a GPU's peak. So a phase is a sum of kinds of work (step_work.py), each with one measured cost.
`python -m benchmarks.step_time` fits the costs to the phases of the calibration, and compares every measured step.
"""

from typing import NamedTuple

from skyrl_train.memory.device import Device
from skyrl_train.memory.job import Job
from skyrl_train.memory.lengths import Lengths
from skyrl_train.memory.parameters import in_model
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.step_work import Work, flops, log_prob_work, typical_length, update_work
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
COSTS = Work(
    arithmetic=2.01,  # 50 % of the peak
    launches=1.607e-3,
    gathers=3.3e-3,
    adapters=3.81e-3,
    rows=48.9e-6,
    rows_back=77.1e-6,
    moved=0.0375,  # 27 GB/s
)
"""Seconds. Fitted to the log-probs and updates of the calibration's runs on one, two and four GPUs."""
PREFILL, DECODE, TRAFFIC = 0.4, 0.3, 0.6
"""Shares of the peak. Traffic: 7B with 16 sequences on an H200 reads 18 GB in 6.5 ms, which is 0.58. The others are not measured."""
PER_TOKEN_S = 0.0018
"""A step of decoding with CUDA graphs, beside what it reads: 1.6 to 2.1 ms with 0.5B on an H200."""
EAGER_PER_LAYER_S = 0.33e-3
"""What each layer adds to it without CUDA graphs: 0.41 ms with 0.5B, 0.26 ms with 1.5B."""
SYNC_S, SHARDED_SYNC_S = 0.3, 1.0
"""Sending the weights to vLLM: 0.2 to 0.6 s from one GPU, 0.5 to 2.3 s from two and four."""
MEASURED_ON, MEASURED_GPUS, MEASURED_PARAMETERS = ("H100-80GB", "H200"), 4, 8e9
"""What the measured steps cover: verl with FSDP, up to 7B, on one node."""
FACTOR = 2.0
"""By which a step is off at most in the measured runs (tests/benchmarks/test_step_time.py)."""


class StepTime(NamedTuple):
    """Seconds of each phase of a step."""

    rollout: float
    log_prob: float
    update: float
    apart: bool  # rollouts and training run at the same time, on different GPUs
    weight_sync: float = 0.0
    measured: bool = False  # measured steps cover this kind of run

    @property
    def total(self) -> float:
        training = self.log_prob + self.update
        return self.weight_sync + (max(self.rollout, training) if self.apart else self.rollout + training)


def step_time(shape: ModelShape, job: Job, engine: Engine | None, device: Device) -> StepTime | None:
    """The seconds of a step; None if the GPU's speed is unknown, nothing is trained, or prime-rl packs unknown lengths."""
    speeds = SPEEDS.get(device.name)
    if speeds is None or job.val_only or (job.framework == "prime-rl" and job.lengths is None):
        return None
    peak, traffic = speeds[0] * TERA, speeds[1] * TERA
    rollout = 0.0 if engine is None or job.rollout is None else _rollout(shape, job, engine, peak, traffic)
    return StepTime(
        rollout,
        log_prob_work(shape, job, peak).seconds(COSTS),
        update_work(shape, job, peak).seconds(COSTS),
        apart=job.rollout is not None and job.rollout.separate,
        weight_sync=0.0 if job.rollout is None else SYNC_S if job.shards == 1 else SHARDED_SYNC_S,
        measured=_measured(shape, job, device),
    )


def _measured(shape: ModelShape, job: Job, device: Device) -> bool:
    small = job.n_gpus <= MEASURED_GPUS and in_model(shape) <= MEASURED_PARAMETERS
    fsdp = job.framework == "verl" and job.strategy != "megatron" and not job.offload_policy
    return shape.is_measured and device.name in MEASURED_ON and small and fsdp


def _rollout(shape: ModelShape, job: Job, engine: Engine, peak: float, traffic: float) -> float:
    """Decoding in rounds of as many sequences as fit; the last round ends with the longest reply."""
    rollout = job.rollout
    assert rollout is not None
    size = rollout.tensor_parallel
    sequences = max(1.0, (job.train_batch or job.mini_batch) * job.n * size / (rollout.gpus or job.n_gpus))
    reply = job.reply or Lengths(job.response_length, job.response_length)
    length = typical_length(job)
    at_once = max(1.0, min(sequences, rollout.max_seqs, engine.kv_tokens / length))
    held = at_once * max(1.0, length - reply.p50 / 2) * kv_bytes_per_token(shape, rollout)
    read = (engine.weights + held) / (traffic * TRAFFIC)
    compute = flops(shape, length) * at_once / size / (peak * DECODE)
    rounds = sequences / at_once
    launch = PER_TOKEN_S + shape.layers * EAGER_PER_LAYER_S * rollout.enforce_eager
    decoding = (reply.p99 + max(0.0, rounds - 1) * reply.p50) * (max(read, compute) + launch)
    prompts = max(0, length - reply.p50) * sequences
    return decoding + flops(shape, length) * prompts / size / (peak * PREFILL)
