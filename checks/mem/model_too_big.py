"""The GPU does not hold the model and what its training keeps.

## What it does
Adds up what stays on the GPU during an update whatever the batch is: weights in their master precision, gradients,
Adam's two states, the critic and the CUDA context, shared over the GPUs that FSDP has. It takes the model's shape from its
`config.json`, or from its public name where the files are not here, and the memory of the device that this job gets: of the MIG
slice, not of its GPU. `skyrl-doctor budget` prints the whole table.

## Why it breaks training
Full training in fp32 needs 16 bytes a parameter: a model of 1.5B takes 24 GB before the first token. The run gets through
load and rollouts, and dies in the first or, since Adam's states appear only then, in the second update.

## How to fix
Take a smaller model, train adapters (`lora_rank = 32`), share it over more GPUs, or ask Slurm for a bigger device.

## Example
    torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB. GPU 0 has a total capacity of 19.62 GiB
"""

from collections.abc import Iterator

from checks.mem.shared import ALLOCATOR_ERRORS, OOM_SAMPLE, TORCH_OOM
from checks.vocabulary import NOT_ENOUGH
from skyrl_doctor.budget.findings import too_much
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.model import Plan

CAUSE = "the GPU's memory does not hold the model and its training state; take a smaller model, LoRA or more memory"

SIGNATURES = (
    Signature(
        pattern=TORCH_OOM,
        sample=OOM_SAMPLE,
        explain=CAUSE,
        versions="torch",
    ),
    Signature(
        pattern=rf"cudaErrorMemoryAllocation|CUBLAS_STATUS_ALLOC_FAILED|HIP out of memory|{ALLOCATOR_ERRORS}|(?:HIP|CUDA|Cuda) failure.{{0,8}}out of memory|out of memory occurred when warming up|[Ff]ailed to allocate .{{0,40}}(?:GPU|device|CUDA) memory|OutOfMemoryError: Out of memory allocating|RESOURCE_EXHAUSTED: .{{0,20}}[Oo]ut of memory|cudaMalloc failed: out of memory",
        sample="RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        explain=CAUSE,
        versions="torch, vllm",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b(?:gpu|cuda|device|video|vram|hbm)[- ]?(?:memory)?\b.{{0,12}}\b(?:exhausted|is full|insufficient|overflow)|\b{NOT_ENOUGH} (?:gpu|cuda|device|video|hbm) memory\b|\b{NOT_ENOUGH} vram\b",
    sample="RuntimeError: GPU memory exhausted while allocating optimizer state (needed 4.1 GiB, 1.0 GiB free)",
    explain=CAUSE,
    versions="any",
)

KEY = "model.path"


@check("MEM001", roles=[Role.LOGIN, Role.GPU], fix="operator: only the user can choose another model or another device")
def model_too_big(memory: GpuBudget, plan: Plan) -> Iterator[Finding]:
    kept = memory.kept
    if kept <= memory.limit:
        return
    yield too_much(
        memory,
        plan,
        KEY,
        f"{memory.model} keeps {in_gib(kept)} on the GPU while it trains, whatever the batch is; {memory.where}",
        "take a smaller model, LoRA, more GPUs or a bigger one",
    )
