"""`gpu_memory_utilization` leaves vLLM too little memory for the KV cache.

## What it does
Subtracts weights, the peak of a forward pass and the CUDA context from what `gpu_memory_utilization` gives vLLM, and compares the rest with the
KV cache of one sequence of `max_model_len` tokens.

## Why it breaks training
vLLM refuses to start if nothing is left, or less than one sequence of the maximum length needs.

## How to fix
Raise `gpu_memory_utilization`, or lower `max_model_len`. `skyrl-doctor budget TARGET --solve max_model_len` prints the largest
value.

## Example
    ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
"""

from collections.abc import Iterator

from checks.vocabulary import NOT_ENOUGH
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan

CAUSE = "gpu_memory_utilization leaves vLLM too little memory for the KV cache of one request"

KEYS = (
    "rollout.gpu_memory_utilization",
    "data.max_prompt_tokens",
    "data.max_response_tokens",
    "rollout.max_model_len",
    "rollout.max_sequences",
    "rollout.tensor_parallel_size",
)

MORE_ROOM = "raise `--gpu-memory-utilization` (`{key:rollout.gpu_memory_utilization}` of a trainer), or spread the model over more GPUs (`--tensor-parallel-size`)."

FITS = "one request may have {asked} tokens, but the GPU's KV cache holds {fits}"

SIGNATURES = (
    Signature(
        pattern=r"max seq len \((?P<asked>\d+)\) is larger than the maximum number of tokens that can be stored in KV cache \((?P<fits>\d+)\)",
        sample="ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (20512). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
        explain=FITS,
        remedy=f"Lower `--max-model-len` (`{{key:rollout.max_model_len}}` of a trainer) to at most {{fits}}, {MORE_ROOM}",
        versions="vllm < 0.9",
    ),
    Signature(
        pattern=r"max seq len \((?P<asked>\d+)\).{1,300}estimated maximum model length is (?P<fits>\d+)",
        sample="ValueError: To serve at least one request with the models's max seq len (32768), (4.50 GiB KV cache is needed, which is larger than the available KV cache memory (1.44 GiB). Based on the available memory, the estimated maximum model length is 10464. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
        explain=FITS,
        remedy=f"Lower `--max-model-len` (`{{key:rollout.max_model_len}}` of a trainer) to at most {{fits}}, {MORE_ROOM}",
        versions="vllm >= 0.9",
    ),
    Signature(
        pattern=r"No available memory for the cache blocks",
        sample="ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
        explain="the weights and what vLLM needs while it runs fill its share of the GPU: nothing is left for the KV cache",
        remedy="Raise `--gpu-memory-utilization` (`{key:rollout.gpu_memory_utilization}` of a trainer), spread the model over more GPUs (`--tensor-parallel-size`), or lower what one step takes (`--max-num-batched-tokens`, `--max-num-seqs`, `--enforce-eager`). `nvidia-smi` shows whether another process holds memory of this GPU. A shorter context alone does not help here.",
        keys=("rollout.gpu_memory_utilization",),
        versions="vllm",
    ),
    Signature(
        pattern=r"To serve at least one request with the model'?s max seq len",
        sample="ValueError: To serve at least one request with the model's max seq len (8192), 1.0 GiB of KV cache is needed",
        explain=CAUSE,
        remedy=f"Lower `--max-model-len` (`{{key:rollout.max_model_len}}` of a trainer), {MORE_ROOM} `nvidia-smi` shows whether another process holds memory of this GPU.",
        versions="vllm",
    ),
    Signature(
        pattern=r"is larger than the maximum number of tokens that can be stored in KV cache|Not enough memory\. Please try (?:to increase|increasing) --mem-fraction-static|larger than the available KV cache memory|Not enough memory to handle \d+ prefill|[Nn]ot enough (?:GPU )?memory .{0,40}KV cache|\bNo enough free memory blocks\b|\b[Ii]nsufficient memory to allocate KV-?caches?\b|\bNo enough gpu memory for (?:runtime|kv cache)\b|\b(?:Prefill|Decode) out of memory\. Try to lower your batch size",
        sample="ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (20512). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
        explain=CAUSE,
        remedy="Lower the longest request (`--max-model-len`, SGLang's `--context-length`), or give the cache more of the GPU (vLLM's `--gpu-memory-utilization`, SGLang's `--mem-fraction-static`), or use more GPUs.",
        versions="vllm < 0.9, sglang, lmdeploy",
        refines=("ENV007",),
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\bkv[- ]?cache\b.{{0,60}}(?:does not fit|too small|cannot hold)|\b{NOT_ENOUGH} (?:room|memory|space|blocks)\b.{{0,40}}\bkv[- ]?cache\b",
    sample="RuntimeError: no room for the KV cache",
    explain=CAUSE,
    versions="any",
)

SHARE, LENGTH = "rollout.gpu_memory_utilization", "rollout.max_model_len"


@check("MEM005", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/memory/solve.py")
def kv_cache_too_small(memory: GpuBudget, plan: Plan) -> Iterator[Finding]:
    engine = memory.budget.engine
    if engine is None:
        raise NotApplicable("vLLM has its own GPU")
    if engine.kv >= engine.kv_needed:
        return
    message = (
        f"{plan.name(SHARE)} = {plan.number(SHARE)} gives vLLM {in_gib(engine.requested)}; its weights take {in_gib(engine.weights)}, "
        f"and {in_gib(engine.kv)} are left for the KV cache ({engine.kv_tokens} tokens); "
        f"expected {in_gib(engine.kv_needed)} for one sequence of {plan.name(LENGTH)}"
    )
    other = f"lower {plan.name(LENGTH)}" if engine.kv else "use more GPUs for each engine"
    if not engine.kv and memory.budget.device.is_slice:
        other = "use a larger slice or a whole GPU"
    yield config_finding(message, plan.place(SHARE), summary=f"raise {plan.name(SHARE)} or {other}")
