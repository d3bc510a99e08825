"""The changes that help most, each with what it gains at the peak."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from skyrl_train.memory.budget import Budget, budget
from skyrl_train.memory.device import Device
from skyrl_train.memory.job import Job
from skyrl_train.memory.shape import ModelShape

SMALLEST_GAIN = 0.005  # of the device: what a person would not call a gain
A = "actor_rollout_ref"


class Change(NamedTuple):
    """A change to the run: what to set, in verl's keys, and what the peak is then."""

    summary: str
    settings: tuple[tuple[str, str], ...]
    gain: int  # bytes by which the peak falls
    budget: Budget


def changes(shape: ModelShape, job: Job, device: Device, count: int = 3) -> tuple[Change, ...]:
    """The most effective changes, best first. Those that change what is learned come only if they gain more."""
    now = budget(shape, job, device).peak.total
    tried = []
    for summary, settings, changed in _candidates(job):
        then = budget(shape, changed, device)
        tried.append(Change(summary, settings, now - then.peak.total, then))
    useful = [change for change in tried if change.gain > SMALLEST_GAIN * device.total and not change.budget.problems]
    return tuple(sorted(useful, key=lambda change: -change.gain)[:count])


def _candidates(job: Job) -> Iterator[tuple[str, tuple[tuple[str, str], ...], Job]]:
    if not job.gradient_checkpointing:
        key = f"{A}.model.enable_gradient_checkpointing"
        yield "recompute activations in the backward pass", ((key, "True"),), replace(job, gradient_checkpointing=True)
    if job.micro_batch > 1 or job.log_prob_micro_batch > 1:
        yield "halve the micro batches", _micro_settings(job), _halved(job)
    if job.fused_kernels is None:
        key = f"{A}.model.use_fused_kernels"
        yield (
            "log-probs and entropy in chunks, without the logits",
            ((key, "True"),),
            replace(job, fused_kernels="torch"),  # FIX(MEM002)
        )
    if job.entropy_chunk is None:
        settings = tuple((f"{A}.{role}.entropy_from_logits_with_chunking", "True") for role in ("actor", "ref"))
        yield "entropy in chunks", settings, replace(job, entropy_chunk=2048)
    if job.rollout is not None and not job.rollout.sleeps:
        key = f"{A}.rollout.free_cache_engine"
        yield "let vLLM sleep during the update", ((key, "True"),), _rollout(job, sleeps=True)
    if job.rollout is not None and job.rollout.utilization > 0.2:
        share = round(job.rollout.utilization - 0.1, 2)
        key = f"{A}.rollout.gpu_memory_utilization"
        yield "a smaller share for vLLM", ((key, str(share)),), _rollout(job, utilization=share)  # FIX(MEM003)
    if not job.param_offload:
        key = f"{A}.actor.fsdp_config.param_offload"
        yield "weights on the host during rollouts", ((key, "True"),), replace(job, param_offload=True)
    if not job.optimizer_offload:
        key = f"{A}.actor.fsdp_config.optimizer_offload"
        kept = replace(job, optimizer_offload=True)  # FIX(MEM006)
        yield "Adam's states on the host between updates", ((key, "True"),), kept
    if not job.lora_rank:
        key = f"{A}.model.lora_rank"
        yield "train adapters of rank 32 only", ((key, "32"),), replace(job, lora_rank=32, reference=False)
    if job.response_length > 1:
        half = job.response_length // 2
        shorter = replace(job, response_length=half, sequence_length=None)
        yield "halve the longest response", (("data.max_response_length", str(half)),), shorter


def _micro_settings(job: Job) -> tuple[tuple[str, str], ...]:
    return (
        (f"{A}.actor.ppo_micro_batch_size_per_gpu", str(max(1, job.micro_batch // 2))),
        (f"{A}.rollout.log_prob_micro_batch_size_per_gpu", str(max(1, job.log_prob_micro_batch // 2))),
    )


def _halved(job: Job) -> Job:
    half = max(1, job.micro_batch // 2)
    return replace(job, micro_batch=half, log_prob_micro_batch=max(1, job.log_prob_micro_batch // 2))


def _rollout(job: Job, **values: bool | float) -> Job:
    assert job.rollout is not None
    return replace(job, rollout=replace(job.rollout, **values))  # type: ignore[arg-type]  # mypy cannot see the keys
