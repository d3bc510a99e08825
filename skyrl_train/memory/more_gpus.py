"""Finds how many GPUs, and how many for each vLLM engine, a run needs that does not fit."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from skyrl_train.memory.budget import budget
from skyrl_train.memory.device import Device
from skyrl_train.memory.job import Job
from skyrl_train.memory.shape import ModelShape

MOST_GPUS = 512
TENSORS = (1, 2, 4, 8, 16, 32, 64)
"""The GPUs of one vLLM engine. It may span nodes (verl/workers/rollout/replica.py)."""


class Needed(NamedTuple):
    """The GPUs of the trainer and of each engine with which a run fits, if its other settings stay; None if none do."""

    gpus: int | None
    tensor_parallel: int | None


def needed_gpus(shape: ModelShape, job: Job, device: Device, *, free: int | None = None) -> Needed | None:
    """The least GPUs, by doubling, with which the run fits; None for a kind of run that this search does not cover, and
    for MIG slices, which cannot be joined."""
    if (
        device.is_slice
        or job.framework != "verl"
        or job.strategy == "megatron"
        or job.rollout is None
        or job.rollout.separate
    ):
        return None
    for gpus, tensor in _candidates(shape, job):
        rollout = replace(job.rollout, tensor_parallel=tensor)
        if budget(shape, replace(job, n_gpus=gpus, rollout=rollout), device, free=free).fits:
            return Needed(gpus, tensor)
    return Needed(None, None)


def _candidates(shape: ModelShape, job: Job) -> Iterator[tuple[int, int]]:
    """Fewer GPUs first, then smaller engines. vLLM divides the attention heads by an engine's GPUs."""
    assert job.rollout is not None, "needed_gpus has ruled it out"
    least, gpus = job.rollout.tensor_parallel, job.n_gpus
    while gpus <= MOST_GPUS:
        for tensor in TENSORS:
            if tensor >= least and gpus % tensor == 0 and shape.heads % tensor == 0:
                yield gpus, tensor
        gpus *= 2
