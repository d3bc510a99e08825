"""The largest value of a key that still fits."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from skyrl_train.memory.budget import Budget, budget
from skyrl_train.memory.device import Device
from skyrl_train.memory.errors import BadJobError
from skyrl_train.memory.job import Job, Rollout
from skyrl_train.memory.shape import ModelShape

FARTHEST = 1_048_576  # tokens, where the model does not say how far it goes
STEP = 0.01  # of gpu_memory_utilization


class Solution(NamedTuple):
    """The answer to "how large may it be": None where not even the smallest value fits."""

    key: str
    value: int | float | None
    budget: Budget  # at that value; at the smallest where none fits
    limited: str = ""  # why no larger value was tried, where it was not memory that stopped it


class _Knob(NamedTuple):
    change: Callable[[Job, int], Job]
    largest: Callable[[ModelShape, Job], int]
    shown: Callable[[int], int | float] = lambda value: value
    why: str = ""


def _rollout(job: Job) -> Rollout:
    if job.rollout is None:
        raise BadJobError("this run has no vLLM on the trainer's GPU, so it has no such key to solve for")
    return job.rollout


def _micro_batch(job: Job, value: int) -> Job:
    if job.max_tokens is not None:
        raise BadJobError(
            "this run packs its micro batches by tokens (use_dynamic_bsz), so micro_batch changes nothing"
        )
    return replace(job, micro_batch=value, log_prob_micro_batch=value, ref_micro_batch=value)


def _response(job: Job, value: int) -> Job:
    return replace(job, response_length=value, sequence_length=None)


def _model_len(job: Job, value: int) -> Job:
    return replace(job, rollout=replace(_rollout(job), max_model_len=value))


def _share(job: Job, value: int) -> Job:
    return replace(job, rollout=replace(_rollout(job), utilization=round(value * STEP, 2)))


def _positions(shape: ModelShape, job: Job) -> int:
    """A response ends where the model's positions do, or the rollout's."""
    rollout = job.rollout.max_model_len if job.rollout is not None else None
    return max(1, min(shape.max_positions or FARTHEST, rollout or FARTHEST) - job.prompt_length)


KNOBS = {
    "micro_batch": _Knob(_micro_batch, lambda _, job: max(1, job.mini_batch * job.n // job.n_gpus), why="mini batch"),
    "response_length": _Knob(_response, _positions, why="the model's positions or max_model_len"),
    "max_model_len": _Knob(  # FIX(MEM005)
        _model_len, lambda shape, _: shape.max_positions or FARTHEST, why="the model's positions"
    ),
    "n": _Knob(lambda job, value: replace(job, n=value), lambda *_: 1024, why="the search ends at 1024"),
    "gpu_memory_utilization": _Knob(_share, lambda *_: 99, lambda value: round(value * STEP, 2), why="0.99"),
}


def solve(key: str, shape: ModelShape, job: Job, device: Device) -> Solution:
    """The largest value of `key` with which the run fits, everything else as it is."""
    knob = KNOBS.get(key)
    if knob is None:
        raise BadJobError(f"no value of {key!r} can be solved for; expected one of {', '.join(KNOBS)}")

    def at(value: int) -> Budget:
        return budget(shape, knob.change(job, value), device)

    largest = knob.largest(shape, job)
    if key == "gpu_memory_utilization":
        return _scanned(key, knob, at, largest)
    if not at(1).fits:
        return Solution(key, None, at(1))
    if at(largest).fits:
        return Solution(key, knob.shown(largest), at(largest), knob.why)
    fitting, failing = 1, largest
    while failing - fitting > 1:
        middle = (fitting + failing) // 2
        fitting, failing = (middle, failing) if at(middle).fits else (fitting, middle)
    return Solution(key, knob.shown(fitting), at(fitting))


def _scanned(key: str, knob: _Knob, at: Callable[[int], Budget], largest: int) -> Solution:
    """A share too small starves the KV cache and one too large leaves no room, so every value is tried."""
    fitting = [value for value in range(1, largest + 1) if at(value).fits]
    if not fitting:
        return Solution(key, None, at(1))
    return Solution(key, knob.shown(fitting[-1]), at(fitting[-1]), knob.why if fitting[-1] == largest else "")
