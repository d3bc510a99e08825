"""The update needs more memory than the GPU has.

## What it does
Computes the peak of an update with the trainer's memory model, from the second step on, when Adam's states exist: the
resident state, the activations of one micro batch with or without checkpointing, the logits and their copies for
log-prob, entropy and loss, and the memory of vLLM, asleep or awake (prime-rl's never sleeps). It checks the log-prob
phase too. The limit is the memory that is free now on this job's device, if a driver reports it. A run that fits the
estimate but not its upper bound is a warning. So is one that fits with the lengths of the data set's prompts, but not if
every sequence is at its limit.

## Why it breaks training
The rollouts succeed, and the first or second backward pass runs out of memory. The logits are larger than most people
expect: 3,000 tokens with a vocabulary of 152,000 take 1.7 GB in fp32, and several copies exist at once.

## How to fix
`skyrl-doctor budget FILE` lists the changes that save most: micro-batch size 1, chunked or fused log-probs and
entropy, checkpointing, shorter responses, a lower `gpu_memory_utilization` for a vLLM that does not sleep.

## Example
    torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.64 GiB. GPU 0 has a total capacity of 19.62 GiB
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from checks.mem.shared import OOM, OOM_SAMPLE, TORCH_OOM
from skyrl_doctor.budget.findings import fit_severity, fullest_phase, largest_components, memory_finding
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.model import Plan

if TYPE_CHECKING:
    from skyrl_train.memory import PhaseBudget

CAUSE = "the update's logits and activations did not fit on the GPU"
SMALLER = "{framework:Set `{key:actor.micro_batch_size_per_gpu}` to 1 (dynamic batches: lower their token limit). If that is not enough, turn on activation checkpointing and the removal of padding, compute entropy in chunks, or shorten `{key:data.max_response_tokens}`. A vLLM that does not sleep needs a smaller `{key:rollout.gpu_memory_utilization}`. `skyrl-doctor budget FILE` adds up what the update needs.|Use a smaller batch on each GPU first; gradient accumulation keeps the size of a step. If that is not enough: activation checkpointing, shorter sequences, mixed precision.}"
LATER = "the GPU ran out of memory after good steps: either this batch was longer than the earlier ones, or the memory grows from step to step"
LESS = "{framework:Lower the tokens of one micro batch (`{key:actor.micro_batch_size_per_gpu}`, or the token limit of dynamic batches).|Use a smaller batch in one pass, or shorten its longest sequence.} If vLLM keeps its memory between steps, or runs on other GPUs, `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` wastes less GPU memory in small free pieces. Resume from the last checkpoint."
KEYS = (
    "actor.micro_batch_size_per_gpu",
    "actor.dynamic_batch_size",
    "actor.max_tokens_per_gpu",
    "data.max_prompt_tokens",
    "data.max_response_tokens",
    "rollout.gpu_memory_utilization",
)

IN_OPTIMIZER = r"torch/optim/|deepspeed/ops/adam/|apex/optimizers/|bitsandbytes/optim/|\b_init_group\b|\bexp_avg|\binitialize_optimizer_states\b"
"""Frames of an optimizer: it creates its states in its first step, and they belong to the training's memory (MEM001)."""

SIGNATURES = (
    Signature(
        pattern=TORCH_OOM,
        sample=OOM_SAMPLE,
        explain=CAUSE,
        remedy=SMALLER,
        versions="torch, verl",
        unless_above=IN_OPTIMIZER,
        near=r"entropy_from_logits|log_?probs?_from_logits|\.backward\(|run_backward|\bupdate_(?:actor|policy|critic)\b|backward pass",
        refines=("MEM001",),
    ),
    Signature(
        pattern=OOM,
        sample=OOM_SAMPLE,
        explain=CAUSE,
        remedy=SMALLER,
        versions="torch, verl, prime-rl",
        near=r"in (?:_?engine_backward|_backward|backward|training_step|_forward_micro_batch|forward_backward\w*|train_batch|train_mini_batch|update_\w{1,20}|compute_log_prob\w*|compute_entropy\w*|logprobs_\w{1,30}|entropy_\w{1,30}|selective_log_softmax|optimizer_step|step)\b|loss\.backward|_update_(?:actor|policy|critic)\(\)|log_softmax|cross_entropy|autograd/(?:graph|__init__|function)\.py",
        within=120,
        unless="wake_up|cumem",
        unless_above=IN_OPTIMIZER,
        refines=("MEM001",),
    ),
    Signature(
        pattern=OOM,
        sample=OOM_SAMPLE,
        explain=LATER,
        remedy=LESS,
        versions="torch",
        steps=True,
        refines=("MEM001",),
    ),
    Signature(
        pattern=r"\bRayTaskError\(OutOfMemoryError\): ray::\S{0,80}update_(?:actor|policy|critic)\(\)",
        sample="ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_ref_update_actor() (pid=5121, ip=10.0.0.5)",
        explain=CAUSE,
        remedy=SMALLER,
        versions="ray, verl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bNo executable batch size found, reached zero",
        sample="RuntimeError: No executable batch size found, reached zero.",
        explain="the update ran out of GPU memory with every batch size down to 1 (`auto_find_batch_size`)",
        remedy=SMALLER,
        versions="accelerate, transformers",
    ),
)

KEY = "actor.micro_batch_size_per_gpu"


def _doubt(memory: GpuBudget, phase: "PhaseBudget") -> str:
    """Why a phase may fit although its worst case or its upper bound does not."""
    if phase.total <= memory.limit:
        return "this may fit, but by less than the uncertainty of the estimate"
    if memory.likely.peak.total <= memory.limit:
        return f"with {memory.lengths}, the run takes {in_gib(memory.likely.peak.total)}"
    return f"this kind of run was not measured, and {memory.budget.spread:.0%} less would fit"


@check("MEM002", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/memory/changes.py")
def backward_out_of_memory(memory: GpuBudget, plan: Plan) -> Iterator[Finding]:
    if memory.kept > memory.limit:
        raise NotApplicable("the training state alone exceeds the GPU (MEM001)")
    phase = fullest_phase(memory, "UPDATE_FIRST", "UPDATE", "LOG_PROB")
    severity = fit_severity(memory, phase)
    if severity is None:
        return
    seen = f"{phase.phase} takes {in_gib(phase.total)} ({largest_components(phase)}); {memory.where}"
    message = seen if severity is Severity.ERROR else f"{seen}; {_doubt(memory, phase)}"
    yield memory_finding(memory, plan, KEY, message, "make the update smaller", severity=severity)
