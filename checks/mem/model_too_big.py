"""The model and its training state do not fit on the GPU: out of memory.

## What it does
Adds up the memory that an update needs independently of the batch: weights in their master precision, gradients,
Adam's two states, the critic and the CUDA context, divided over FSDP's GPUs. The model's shape comes from its
`config.json`, or from its public name if the files are not on this machine. The limit is the memory of this job's
device: of the MIG slice, not of its GPU. `skyrl-doctor budget` prints the whole table.

## Why it breaks training
Full training in fp32 needs 16 bytes a parameter: a model of 1.5B takes 24 GB before the first token. The run loads
the model, finishes the rollouts, and dies in the first update or, because Adam's states appear only then, in the
second.

## How to fix
Use a smaller model, train adapters (`lora_rank = 32`), use more GPUs, or request a larger device from Slurm.

## Example
    torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB. GPU 0 has a total capacity of 19.62 GiB
"""

from collections.abc import Iterator

from checks.mem.shared import ALLOCATOR_ERRORS, OOM_SAMPLE, TORCH_OOM
from checks.vocabulary import NOT_ENOUGH
from skyrl_doctor.budget.findings import memory_finding
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.model import Plan

CAUSE = "the GPU has no memory left: the model, its batch and what else uses the GPU do not fit together"
SMALLER = "{framework:`skyrl-doctor budget FILE` adds up what this run needs. Use more GPUs, LoRA (`{key:model.lora_rank}`) or a smaller model, or offload (`{key:actor.param_offload}`, `{key:actor.optimizer_offload}`).|In training use a smaller batch first, then activation checkpointing, LoRA, more GPUs or a smaller model. A server needs more GPUs, or a checkpoint that is quantised already.} `nvidia-smi` on the node shows whether another process holds memory."
KEYS = ("model.path", "model.lora_rank", "actor.param_offload", "rollout.gpu_memory_utilization")

SIGNATURES = (
    Signature(
        pattern=rf"\[(?:core|gpu_worker|gpu_model_runner|multiproc_executor)\.py:\d{{1,6}}\].{{0,300}}(?:{TORCH_OOM})",
        sample="ERROR 03-02 04:01:14 [core.py:1108] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 79.10 GiB",
        explain="vLLM ran out of GPU memory: the model and what it needs while it runs exceed the memory that is free",
        remedy="`nvidia-smi` on the node shows whether another process holds memory. Spread the model over more GPUs (`{key:rollout.tensor_parallel_size}`) or use a smaller or quantised one. Out of memory during compilation or while CUDA graphs are captured: lower `{key:rollout.gpu_memory_utilization}` or `{key:rollout.max_sequences}`, or turn `{key:rollout.enforce_eager}` on.",
        keys=("model.path", "rollout.gpu_memory_utilization", "rollout.tensor_parallel_size", "rollout.enforce_eager"),
        steps=False,
        unless="wake_up|cumem",
        versions="vllm",
    ),
    Signature(
        pattern=TORCH_OOM,
        sample=OOM_SAMPLE,
        explain=CAUSE,
        remedy=SMALLER,
        steps=False,
        versions="torch",
    ),
    Signature(
        pattern=rf"cudaErrorMemoryAllocation|cuda runtime error \(2\) : out of memory|CUBLAS_STATUS_ALLOC_FAILED|HIP out of memory|{ALLOCATOR_ERRORS}|out of memory occurred when warming up|[Ff]ailed to allocate .{{0,40}}(?:GPU|device|CUDA) memory|OutOfMemoryError: Out of memory allocating|RESOURCE_EXHAUSTED: .{{0,20}}[Oo]ut of memory|cudaMalloc failed: out of memory|\bCuda Runtime \(out of memory\)|\bCUDA runtime error in [^\n]{{1,200}}: out of memory|\bError Code 2: OutOfMemory\b|\binsufficient GPU memory\b|\b(?:Your|[Tt]he) GPU ran out of memory\b|\bSome modules are dispatched on the CPU or the disk\. Make sure you have enough GPU RAM|\b(?:[Ff]ailed|unable) to allocate CUDA\d{{1,3}} buffer\b",
        sample="RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        explain=CAUSE,
        remedy=SMALLER,
        steps=False,
        versions="torch, vllm, TensorRT-LLM, accelerate, llama.cpp",
        refines=("ENV007",),
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b(?:gpu|cuda|device|video|vram|hbm)[- ]?(?:memory)?\b.{{0,12}}\b(?:exhausted|is full|insufficient|overflow)|\b{NOT_ENOUGH} (?:gpu|cuda|device|video|hbm) memory\b|\b{NOT_ENOUGH} vram\b",
    sample="RuntimeError: GPU memory exhausted while allocating optimizer state (needed 4.1 GiB, 1.0 GiB free)",
    explain=CAUSE,
    remedy=SMALLER,
    steps=False,
    versions="any",
)

KEY = "model.path"


@check("MEM001", roles=[Role.LOGIN, Role.GPU], fix="operator: only the user can choose another model or another device")
def model_too_big(memory: GpuBudget, plan: Plan) -> Iterator[Finding]:
    kept = memory.kept
    if kept <= memory.limit:
        return
    yield memory_finding(
        memory,
        plan,
        KEY,
        f"{memory.model} needs {in_gib(kept)} on the GPU during training, independently of the batch; {memory.where}",
        "use a smaller model, LoRA, more GPUs or a larger one",
    )
