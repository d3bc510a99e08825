"""Suggests the changes that reduce the peak most."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from skyrl_train.contracts.megatron_recompute import FULL_RECOMPUTE, transformer_table
from skyrl_train.contracts.verl_keys import A, key_of
from skyrl_train.memory.budget import MOST_SHARE, Budget, budget
from skyrl_train.memory.device import Device
from skyrl_train.memory.job import Critic, Job, Rollout
from skyrl_train.memory.shape import ModelShape

SMALLEST_GAIN = 0.005  # share of the memory that the run can use; smaller gains are not worth a change
CHECKPOINTING, LORA, LENGTH = (
    key_of("model.gradient_checkpointing"),
    key_of("model.lora_rank"),
    key_of("data.max_response_tokens"),
)
SHARE = key_of("rollout.gpu_memory_utilization")
REFERENCE_MICRO_BATCH = "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu"
"""verl alone sets it apart from the micro batch of the log-probs."""
# prime-rl's keys; settings that are missing here do not exist there. Its two programs need the same length.
PRIME = {
    CHECKPOINTING: ("trainer.model.ac.freq",),
    LORA: ("trainer.model.lora.rank",),
    LENGTH: ("trainer.model.seq_len", "orchestrator.seq_len"),
    SHARE: ("inference.gpu_memory_utilization",),
}

OTHERWISE = frozenset({LORA, LENGTH, *PRIME[LORA], *PRIME[LENGTH]})

# Megatron's, in verl. What is missing here has the same key as with FSDP.
FSDP_TABLE = key_of("actor.param_offload").removesuffix("param_offload")
MEGATRON_TABLE = "actor_rollout_ref.actor.megatron."

Settings = tuple[tuple[str, str], ...]
Candidate = tuple[str, Settings, Job]


class Change(NamedTuple):
    """A change to the run: the settings in its framework's keys, and the budget afterwards."""

    summary: str
    settings: Settings
    gain: int  # bytes by which the peak falls
    budget: Budget


def changes(
    shape: ModelShape, job: Job, device: Device, count: int = 3, *, free: int | None = None
) -> tuple[Change, ...]:
    """The most effective changes, best first. Changes that cause another failure are left out.

    A change of what is trained is the last, and only given if no other change makes the run fit. `free` is the memory of
    the device that the run can use, where other programs have the rest.
    """
    now = budget(shape, job, device, free=free)
    tried = []
    for summary, settings, changed in _candidates(job):
        then = budget(shape, changed, device, free=free)
        tried.append(Change(summary, settings, now.peak.total - then.peak.total, then))
    useful = [
        change
        for change in tried
        if change.gain > SMALLEST_GAIN * now.limit and len(change.budget.problems) <= len(now.problems)
    ]
    found = sorted(useful, key=lambda change: -change.gain)
    same = [change for change in found if not trains_otherwise(change)]
    other = [change for change in found if trains_otherwise(change)]
    if any(change.budget.fits for change in same):
        return tuple(same[:count])
    return (*same[: max(count - 1, count - len(other))], *other)[:count]


def trains_otherwise(change: Change) -> bool:
    """Whether the trained model would be another one: adapters in place of all weights, or shorter replies."""
    return any(key in OTHERWISE for key, _ in change.settings)


def with_changes(job: Job, wanted: Sequence[Change]) -> Job | None:
    """The job with all these changes; None if one of them is another setting, or none, after those before it."""
    for change in wanted:
        after = [one for summary, settings, one in _candidates(job) if (summary, settings) == change[:2]]
        if not after:
            return None
        job = after[0]
    return job


def _candidates(job: Job) -> Iterator[Candidate]:
    for summary, settings, changed in (*_of_the_update(job), *_of_the_states(job), *_of_vllm(job)):
        own = _own_keys(settings, changed)
        if own is not None:
            yield summary, own, changed


def _own_keys(settings: Settings, changed: Job) -> Settings | None:
    if changed.strategy == "megatron":
        return tuple(own for setting in settings for own in _of_megatron(*setting))
    if changed.framework != "prime-rl":
        return settings
    if any(key not in PRIME for key, _ in settings):
        return None
    other = {CHECKPOINTING: "1", LENGTH: str(changed.prompt_length + changed.response_length)}
    return tuple((own, other.get(key, value)) for key, value in settings for own in PRIME[key])


def _of_megatron(key: str, value: str) -> Settings:
    if key == CHECKPOINTING:
        return tuple((f"{transformer_table(A)}.{name}", word) for name, word in FULL_RECOMPUTE.items())
    if key.startswith(FSDP_TABLE):
        return ((MEGATRON_TABLE + key.removeprefix(FSDP_TABLE), value),)
    return ((key, value),)


def _of_the_update(job: Job) -> Iterator[Candidate]:
    if not job.gradient_checkpointing:
        changed = replace(job, gradient_checkpointing=True)
        yield "recompute activations in the backward pass", ((CHECKPOINTING, "true"),), changed
    critic = job.critic
    if critic is not None and not critic.gradient_checkpointing:
        key = "critic.model.enable_gradient_checkpointing"
        yield (
            "recompute the critic's activations in the backward pass",
            ((key, "true"),),
            replace(job, critic=replace(critic, gradient_checkpointing=True)),
        )
    if job.max_tokens is not None and job.max_tokens > job.longest:
        half = max(job.longest, job.max_tokens // 2)
        key = key_of("actor.max_tokens_per_gpu")
        yield (
            "use fewer tokens in a micro batch",
            ((key, str(half)),),
            replace(job, max_tokens=half, log_prob_max_tokens=half),
        )
    elif _halved_settings(job):
        yield "halve the micro batches", _halved_settings(job), _halved(job)
    if job.fused_kernels is None:
        key = key_of("model.fused_kernels")
        yield (
            "compute log-probs and entropy in chunks, without the full logits",
            ((key, "true"),),
            replace(job, fused_kernels="torch"),  # FIX(MEM002)
        )
    if job.entropy_chunk is None and job.remove_padding:
        key = key_of("actor.entropy_chunking")
        yield "compute the entropy in chunks", ((key, "true"),), replace(job, entropy_chunk=2048)
    if job.response_length > 1:
        changed = _shorter(job)
        summary = "halve seq_len" if job.framework == "prime-rl" else "halve the longest response"
        yield summary, ((LENGTH, str(changed.response_length)),), changed


def _shorter(job: Job) -> Job:
    """Half the response; of prime-rl, half of prompt and response, for which it has one length."""
    half = job.response_length // 2
    prompt = max(1, job.prompt_length // 2) if job.framework == "prime-rl" else job.prompt_length
    return replace(job, prompt_length=prompt, response_length=half, sequence_length=None)


def _of_the_states(job: Job) -> Iterator[Candidate]:
    if not job.param_offload:
        key = key_of("actor.param_offload")
        yield "keep the weights on the host during rollouts", ((key, "true"),), replace(job, param_offload=True)
    if not job.optimizer_offload:
        key = key_of("actor.optimizer_offload")
        yield (
            "keep Adam's states on the host between updates",
            ((key, "true"),),
            replace(job, optimizer_offload=True),
        )  # FIX(MEM006)
    critic = job.critic
    if critic is not None and not (critic.param_offload and critic.optimizer_offload):
        settings = ((key_of("critic.param_offload"), "true"), (key_of("critic.optimizer_offload"), "true"))
        away: Critic = replace(critic, param_offload=True, optimizer_offload=True)
        yield "keep the critic on the host while it waits", settings, replace(job, critic=away)
    sends_adapters = job.lora_rank and job.framework == "verl"
    if sends_adapters and job.strategy == "fsdp" and job.shards > 1:
        key = key_of("actor.strategy")
        yield "use FSDP2, which gathers only the adapters", ((key, "fsdp2"),), replace(job, strategy="fsdp2")
    if not job.lora_rank:
        yield "train only adapters of rank 32", ((LORA, "32"),), replace(job, lora_rank=32)


def _of_vllm(job: Job) -> Iterator[Candidate]:
    rollout: Rollout | None = job.rollout
    if rollout is None:
        return
    if not rollout.sleeps and not rollout.separate:
        key = key_of("rollout.free_cache_engine")
        yield "let vLLM sleep during the update", ((key, "true"),), replace(job, rollout=replace(rollout, sleeps=True))
    if rollout.utilization > (MOST_SHARE if rollout.separate else 0.2):  # alone on its GPU, vLLM may take it all
        share = round(rollout.utilization - 0.1, 2)
        yield (
            "lower gpu_memory_utilization",
            ((SHARE, str(share)),),
            replace(job, rollout=replace(rollout, utilization=share)),  # FIX(MEM003)
        )


def _halved_settings(job: Job) -> Settings:
    sizes = {
        key_of("actor.micro_batch_size_per_gpu"): job.micro_batch,
        key_of("rollout.log_prob_micro_batch_size_per_gpu"): job.log_prob_micro_batch,
        REFERENCE_MICRO_BATCH: job.ref_micro_batch if job.reference else 1,
    }
    return tuple((key, str(size // 2)) for key, size in sizes.items() if size > 1)


def _halved(job: Job) -> Job:
    sizes = job.micro_batch, job.log_prob_micro_batch, job.ref_micro_batch
    update, log_prob, reference = (max(1, size // 2) for size in sizes)
    return replace(job, micro_batch=update, log_prob_micro_batch=log_prob, ref_micro_batch=reference)
