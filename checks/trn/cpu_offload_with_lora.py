"""FSDP keeps the weights on the host while a LoRA adapter is trained.

## What it does
Finds FSDP's own CPU offloading (`fsdp_cpu_offload`, `offload_policy`) together with an adapter. verl's param_offload
and optimizer_offload are different: they move weights between phases and work with LoRA.

## Why it breaks training
The adapter is created on the GPU and the base weights stay on the host, so the first step mixes both devices and
fails.

## How to fix
Turn this offloading off, and save memory with activation checkpointing instead.

## Example
    RuntimeError: Attempted to set the storage of a tensor on device "cpu" to a storage on different device "cuda:0"
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.offload import moves_adapter_to_cpu

CAUSE = "FSDP keeps parameters on the CPU while LoRA is trained"

SIGNATURES = (
    Signature(
        pattern=r"found at least two devices, (?:cpu and cuda|cuda:\d and cpu)|on the same device, but got \w{1,20} is on (?:cpu, different from other tensors on cuda|cuda:\d{1,3}, different from other tensors on cpu)",
        sample="RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0!",
        explain=CAUSE,
        versions="verl, peft",
        near=r"(?i:lora|peft|offload)",
        unless_above=r"accelerate/hooks\.py",  # a model that accelerate spreads over devices: no FSDP keeps it on the host
        within=80,
        refines=("TRN010",),
    ),
    Signature(
        pattern=r"Attempted to set the storage of a tensor on device \"cpu\"|Cannot combine fsdp_cpu_offload with",
        sample='RuntimeError: Attempted to set the storage of a tensor on device "cpu" to a storage on different device "cuda:0". This is no longer allowed; the devices must match.',
        explain=CAUSE,
        versions="prime-rl, verl",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\blora\b.{0,60}\boff-?load\w*\b.{0,60}\b(?:cannot|can't|not|incompatib\w+|unsupported)\b|\b(?:cannot|can't)\b.{0,40}\boff-?load\w*\b.{0,40}\blora\b",
    sample="RuntimeError: LoRA and CPU offload cannot be combined",
    explain=CAUSE,
    versions="any",
)

OFFLOAD, RANK = "actor.cpu_offload", "model.lora_rank"


@check("TRN003", fix="skyrl_train/config/offload.py")
def cpu_offload_with_lora(plan: Plan) -> Iterator[Finding]:
    rank = required(plan).integer(RANK) or 0
    if rank == 0:
        raise NotApplicable("the configuration trains no LoRA adapter")
    if moves_adapter_to_cpu(cpu_offload=bool(plan.flag(OFFLOAD)), lora=rank > 0):
        message = f"{plan.name(OFFLOAD)} is on, but {plan.name(RANK)} = {rank} trains a LoRA adapter; expected off"
        yield config_finding(message, plan.place(OFFLOAD), plan.settings({OFFLOAD: "false"}))
