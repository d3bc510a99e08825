"""Finds the largest value of a key with which the run fits."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from skyrl_train.memory.budget import MOST_SHARE, Budget, budget
from skyrl_train.memory.device import Device
from skyrl_train.memory.errors import BadJobError
from skyrl_train.memory.job import Job, Rollout
from skyrl_train.memory.shape import ModelShape

FARTHEST = 1_048_576  # tokens, if the model has no limit of positions
STEP = 0.01  # of gpu_memory_utilization
PRIME = "prime-rl"
CONTEXT_UNKNOWN = "the model's own limit of context is not known here, and vLLM refuses more than that"
BEYOND_SHARE = "a larger share leaves nothing for the driver and other processes"
EVERY = "every value up to 1024 fits"


class Solution(NamedTuple):
    """The largest value that fits; None if not even the smallest value fits."""

    key: str
    value: int | float | None
    budget: Budget  # at that value, or at the smallest if none fits
    limited: str = ""  # why no larger value was tried, if not for lack of memory; or what the memory does not tell


class _Largest(NamedTuple):
    """The largest value that is tried, and why none is larger."""

    value: int
    why: str


class _Knob(NamedTuple):
    change: Callable[[Job, int], Job]
    largest: Callable[[ModelShape, Job], _Largest]
    displayed: Callable[[int], int | float] = lambda value: value
    divides: bool = False  # whether only the divisors of the largest value are accepted


def _rollout(job: Job) -> Rollout:
    if job.rollout is None:
        raise BadJobError("this run has no vLLM, so settings of vLLM cannot be solved for; solve for response_length")
    return job.rollout


def _micro_batch(job: Job, value: int) -> Job:
    if job.max_tokens is not None:
        raise BadJobError(
            "this run packs its micro batches by tokens (use_dynamic_bsz or max_tokens_per_microbatch), so micro_batch changes "
            "nothing; solve for response_length"
        )
    return replace(job, micro_batch=value, log_prob_micro_batch=value, ref_micro_batch=value)


def _response(job: Job, value: int) -> Job:
    if job.framework == PRIME:  # one length for prompt and response together
        return replace(job, prompt_length=_cut_at(job) - value, response_length=value, sequence_length=None)
    return replace(job, response_length=value, sequence_length=None)


def _model_len(job: Job, value: int) -> Job:
    return replace(job, rollout=replace(_rollout(job), max_model_len=value))


def _share(job: Job, value: int) -> Job:
    return replace(job, rollout=replace(_rollout(job), utilization=round(value * STEP, 2)))


def _cut_at(job: Job) -> int:
    """The tokens of prompt and response together that prime-rl trains on; it cuts the rest."""
    return job.prompt_length + job.response_length


def _of_prime(job: Job) -> _Largest:
    limit = _cut_at(job)
    return _Largest(limit, f"training cuts prompt + response at seq_len = {limit}")


def _longest_context(shape: ModelShape, job: Job) -> _Largest:
    return min(_context(shape), _of_prime(job)) if job.framework == PRIME else _context(shape)


def _longest_response(shape: ModelShape, job: Job) -> _Largest:
    """Limited by the model's context, by max_model_len, and by dynamic micro batches, which hold whole sequences."""
    if job.framework == PRIME:
        most = _longest_context(shape, job)
        return _Largest(max(1, min(most.value, _cut_at(job) - 1)), most.why)  # a prompt has a token
    limits = [_context(shape)]
    if job.rollout is not None and job.rollout.max_model_len is not None:
        limits.append(
            _Largest(job.rollout.max_model_len, f"longer replies exceed max_model_len = {job.rollout.max_model_len}")
        )
    held = [
        limit for limit in (job.max_tokens, job.log_prob_max_tokens) if limit is not None and job.max_tokens is not None
    ]
    if held and job.framework == "verl":
        limit = min(held) * job.sequence_parallel
        limits.append(_Largest(limit, f"longer sequences exceed the {limit} tokens of a dynamic micro batch"))
    least = min(limits)
    return _Largest(max(1, least.value - job.prompt_length), least.why)


def _context(shape: ModelShape) -> _Largest:
    if shape.max_positions is None:
        return _Largest(FARTHEST, f"the search stops there; {CONTEXT_UNKNOWN}")
    return _Largest(shape.max_positions, f"the model's context is {shape.max_positions} tokens")


def _samples(job: Job) -> _Largest:
    """The samples of a mini batch on one GPU. A micro batch must divide them (CFG002)."""
    samples = max(1, job.mini_batch * job.n // max(1, job.n_gpus // job.replica))
    return _Largest(samples, f"a GPU has only {samples} samples of a mini batch")


KNOBS = {
    "micro_batch": _Knob(_micro_batch, lambda _, job: _samples(job), divides=True),
    "response_length": _Knob(_response, _longest_response),
    "max_model_len": _Knob(_model_len, _longest_context),  # FIX(MEM005)
    "n": _Knob(lambda job, value: replace(job, n=value), lambda *_: _Largest(1024, EVERY)),
    "gpu_memory_utilization": _Knob(
        _share, lambda *_: _Largest(round(MOST_SHARE / STEP), BEYOND_SHARE), lambda value: round(value * STEP, 2)
    ),
}


def solve(key: str, shape: ModelShape, job: Job, device: Device, *, free: int | None = None) -> Solution:
    """The largest value of `key` with which the run fits; the other settings stay as they are.

    `free` is the memory of the device that the run can use, where other programs have the rest.
    """
    knob = KNOBS.get(key)
    if knob is None:
        raise BadJobError(f"cannot solve for {key!r}; use one of {', '.join(KNOBS)}")

    def at(value: int) -> Budget:
        return budget(shape, knob.change(job, value), device, free=free)

    largest, why = knob.largest(shape, job)
    if key == "gpu_memory_utilization":
        return _scanned(key, knob, at, largest, why)
    if not at(1).fits:
        return Solution(key, None, at(1))
    if at(largest).fits:
        return Solution(key, knob.displayed(largest), at(largest), why)
    tried = (
        [value for value in range(1, largest + 1) if largest % value == 0] if knob.divides else range(1, largest + 1)
    )
    fitting, failing = 0, len(tried) - 1
    while failing - fitting > 1:
        middle = (fitting + failing) // 2
        fitting, failing = (middle, failing) if at(tried[middle]).fits else (fitting, middle)
    best = tried[fitting]
    return Solution(key, knob.displayed(best), at(best), _open_end(key, shape))


def _open_end(key: str, shape: ModelShape) -> str:
    """What the memory does not tell of a value."""
    if key in ("max_model_len", "response_length") and shape.max_positions is None:
        return CONTEXT_UNKNOWN
    return ""


def _scanned(key: str, knob: _Knob, at: Callable[[int], Budget], largest: int, why: str) -> Solution:
    """Tries every value, since a share can be too small for the KV cache or too large for the trainer."""
    fitting = [value for value in range(1, largest + 1) if at(value).fits]
    if not fitting:
        return Solution(key, None, at(1))
    best = fitting[-1]
    return Solution(key, knob.displayed(best), at(best), why if best == largest else "")
