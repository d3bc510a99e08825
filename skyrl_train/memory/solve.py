"""Finds the largest value of a key with which the run fits."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from skyrl_train.memory.budget import Budget, budget
from skyrl_train.memory.device import Device
from skyrl_train.memory.errors import BadJobError
from skyrl_train.memory.job import Job, Rollout
from skyrl_train.memory.shape import ModelShape

FARTHEST = 1_048_576  # tokens, if the model has no limit of positions
STEP = 0.01  # of gpu_memory_utilization


class Solution(NamedTuple):
    """The largest value that fits; None if not even the smallest value fits."""

    key: str
    value: int | float | None
    budget: Budget  # at that value, or at the smallest if none fits
    limited: str = ""  # why no larger value was tried, if not for lack of memory


class _Knob(NamedTuple):
    change: Callable[[Job, int], Job]
    largest: Callable[[ModelShape, Job], int]
    displayed: Callable[[int], int | float] = lambda value: value
    why: str = ""


def _rollout(job: Job) -> Rollout:
    if job.rollout is None:
        raise BadJobError("this run has no vLLM on the trainer's GPU, so this key cannot be solved for")
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
    """The longest response: limited by the model's positions and by max_model_len."""
    rollout = job.rollout.max_model_len if job.rollout is not None else None
    return max(1, min(shape.max_positions or FARTHEST, rollout or FARTHEST) - job.prompt_length)


KNOBS = {
    "micro_batch": _Knob(_micro_batch, lambda _, job: max(1, job.mini_batch * job.n // job.n_gpus), why="mini batch"),
    "response_length": _Knob(_response, _positions, why="the model's positions or max_model_len"),
    "max_model_len": _Knob(  # FIX(MEM005)
        _model_len, lambda shape, _: shape.max_positions or FARTHEST, why="the model's positions"
    ),
    "n": _Knob(lambda job, value: replace(job, n=value), lambda *_: 1024, why="the search stops at 1024"),
    "gpu_memory_utilization": _Knob(_share, lambda *_: 99, lambda value: round(value * STEP, 2), why="0.99"),
}


def solve(key: str, shape: ModelShape, job: Job, device: Device) -> Solution:
    """The largest value of `key` with which the run fits; the other settings stay as they are."""
    knob = KNOBS.get(key)
    if knob is None:
        raise BadJobError(f"cannot solve for {key!r}; use one of {', '.join(KNOBS)}")

    def at(value: int) -> Budget:
        return budget(shape, knob.change(job, value), device)

    largest = knob.largest(shape, job)
    if key == "gpu_memory_utilization":
        return _scanned(key, knob, at, largest)
    if not at(1).fits:
        return Solution(key, None, at(1))
    if at(largest).fits:
        return Solution(key, knob.displayed(largest), at(largest), knob.why)
    fitting, failing = 1, largest
    while failing - fitting > 1:
        middle = (fitting + failing) // 2
        fitting, failing = (middle, failing) if at(middle).fits else (fitting, middle)
    return Solution(key, knob.displayed(fitting), at(fitting))


def _scanned(key: str, knob: _Knob, at: Callable[[int], Budget], largest: int) -> Solution:
    """Tries every value, since a share can be too small for the KV cache or too large for the trainer."""
    fitting = [value for value in range(1, largest + 1) if at(value).fits]
    if not fitting:
        return Solution(key, None, at(1))
    return Solution(key, knob.displayed(fitting[-1]), at(fitting[-1]), knob.why if fitting[-1] == largest else "")
