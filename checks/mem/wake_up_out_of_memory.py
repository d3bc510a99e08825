"""vLLM wakes up for the weight sync and finds too little memory.

## What it does
Computes the memory of the weight sync with the memory model: vLLM awake with its weights, the trainer's own weights
back on the GPU, the copy of its state dict and the buckets in which they are sent.

## Why it breaks training
Every step ends with a weight sync. When vLLM's allocator maps its memory back, torch cannot free its cache for it, so
the process aborts in native code and the run hangs.

## How to fix
Offload the trainer's optimiser (`optimizer_offload`), send smaller buckets, or lower `gpu_memory_utilization`.

## Example
    CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62
"""

from collections.abc import Iterator

from checks.mem.shared import OOM, OOM_SAMPLE, TORCH_OOM
from skyrl_doctor.budget.findings import fit_severity, fullest_phase, largest_components, memory_finding
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.model import Plan

CAUSE = "vLLM woke up while the trainer, or another process on this GPU, still used the memory; empty the cache before wake_up"
WITH_SGLANG = "vLLM or sglang woke up while the trainer, or another process on this GPU, still used the memory; empty the cache before wake_up"

KEYS = ("rollout.gpu_memory_utilization", "rollout.free_cache_engine", "actor.param_offload", "actor.optimizer_offload")

SIGNATURES = (
    Signature(
        pattern=r"out of memory at .{0,200}cumem_allocator|\bwake_up\b.{0,60}\b(?i:cuda error): out of memory",
        sample="CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62",
        explain=CAUSE,
        versions="vllm",
    ),
    Signature(
        pattern=TORCH_OOM,
        sample=OOM_SAMPLE,
        explain=CAUSE,
        versions="vllm, verl",
        near=r"\bwake_up\b",
        within=40,
        refines=("MEM001",),
    ),
    Signature(
        pattern=r"(?:cuMemCreate|torch_memory_saver|cumem\w*).{0,200}(?:out of memory|OUT_OF_MEMORY)|(?:out of memory|OUT_OF_MEMORY).{0,200}(?:cuMemCreate|memory_saver|cumem)",
        sample="CUresult error: 2 (out of memory)  file=csrc/torch_memory_saver.cpp func=cuMemCreate line=103",
        explain=WITH_SGLANG,
        versions="sglang",
    ),
    Signature(
        pattern=r"\bCUDA Error: o\s*$",
        sample="RuntimeError: CUDA Error: o",
        explain=CAUSE,
        versions="vllm 0.7 to 0.10, which print the first letter of `out of memory`",
        near=r"\bpython_create_and_map\b|\bcumem\b",
        within=10,
    ),
    Signature(
        pattern=OOM,
        sample=OOM_SAMPLE,
        explain=WITH_SGLANG,
        versions="verl",
        near=r"\bwake_up\b|resume_memory_occupation|rollout_mode",
        within=40,
        refines=("MEM001", "MEM002"),
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bout of memory\b.{0,60}\bwak(?:e|ing)\b|\bwak(?:e|ing)[ _]up\b.{0,60}\bout of memory\b",
    sample="RuntimeError: out of memory while waking up vLLM",
    explain=CAUSE,
    versions="any",
)

KEY = "actor.optimizer_offload"


@check("MEM006", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/memory/changes.py")
def wake_up_out_of_memory(memory: GpuBudget, plan: Plan) -> Iterator[Finding]:
    if memory.budget.engine is None or not memory.job.rollout or not memory.job.rollout.sleeps:
        raise NotApplicable("vLLM does not sleep, so it does not wake up")
    phase = fullest_phase(memory, "WEIGHT_SYNC")
    severity = fit_severity(memory, phase)
    if severity is None:
        return
    message = f"the weight sync takes {in_gib(phase.total)} ({largest_components(phase)}); {memory.where}"
    yield memory_finding(memory, plan, KEY, message, "free memory for vLLM's weights", severity=severity)
