"""The update's fullest moment does not fit on the GPU.

## What it does
Plays an update of this plan by the trainer's memory model, from the second step on, when Adam's states are there: what is kept,
the activations of one micro batch with or without checkpointing, the logits and what log-prob, entropy and loss copy of them,
and what vLLM holds while it sleeps (or while it does not: prime-rl's never does). The log-prob phase is looked at
too. The limit is what is free now on the device of this job, where a driver tells it. A run that fits in the middle of the
model's band and not at its upper end is a warning.

## Why it breaks training
The rollouts go well, and the first or second backward pass runs out of memory. The logits are the part that
surprises: 3,000 tokens of a vocabulary of 152,000 are 1.7 GB in fp32, and several copies are there at once.

## How to fix
The evidence names the changes that gain most for this plan: micro-batch 1, chunked or fused log-probs and
entropy, checkpointing, shorter responses, a smaller share for a vLLM that does not sleep.

## Example
    torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.64 GiB. GPU 0 has a total capacity of 19.62 GiB
"""

from collections.abc import Iterator

from checks.mem.shared import OOM, OOM_SAMPLE, TORCH_OOM
from skyrl_doctor.budget.findings import fullness, largest, phase_of, too_much
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.model import Plan

CAUSE = "the update's logits and activations did not fit; chunk the entropy, remove padding, use micro-batch 1 and checkpointing"

SIGNATURES = (
    Signature(
        pattern=TORCH_OOM,
        sample=OOM_SAMPLE,
        explain=CAUSE,
        versions="torch, verl",
        near=r"entropy_from_logits|log_?probs?_from_logits|\.backward\(|run_backward|\bupdate_(?:actor|policy|critic)\b|backward pass",
        refines=("MEM001",),
    ),
    Signature(
        pattern=OOM,
        sample=OOM_SAMPLE,
        explain=CAUSE,
        versions="torch, verl, prime-rl",
        near=r"in (?:_?engine_backward|_backward|backward|training_step|_forward_micro_batch|forward_backward\w*|train_batch|train_mini_batch|update_\w{1,20}|compute_log_prob\w*|compute_entropy\w*|logprobs_\w{1,30}|entropy_\w{1,30}|selective_log_softmax|optimizer_step|step)\b|loss\.backward|_update_(?:actor|policy|critic)\(\)|log_softmax|cross_entropy|autograd/(?:graph|__init__|function)\.py",
        within=60,
        unless="wake_up|cumem",
        refines=("MEM001",),
    ),
)

KEY = "actor.micro_batch_size_per_gpu"


@check("MEM002", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/memory/changes.py")
def backward_out_of_memory(memory: GpuBudget, plan: Plan) -> Iterator[Finding]:
    if memory.kept > memory.limit:
        raise NotApplicable("what training keeps alone is more than the GPU has (MEM001)")
    phase = phase_of(memory, "UPDATE_FIRST", "UPDATE", "LOG_PROB")
    severity = fullness(memory, phase)
    if severity is None:
        return
    seen = f"{phase.phase} takes {in_gib(phase.total)} ({largest(phase)}); {memory.where}"
    message = seen if severity is Severity.ERROR else f"{seen}: it may fit by less than the estimate is sure of"
    yield too_much(memory, plan, KEY, message, "make the update smaller", severity=severity)
