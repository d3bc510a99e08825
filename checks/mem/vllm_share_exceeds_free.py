"""`gpu_memory_utilization` exceeds the free memory of the GPU.

## What it does
Compares what vLLM takes, `gpu_memory_utilization` times the TOTAL memory of the device (of the MIG slice), with the
memory that the trainer leaves: the device, or its free memory now, minus the weights and optimiser states that stay
on it while vLLM starts and generates.

## Why it breaks training
vLLM does not adapt to the free memory. It takes its share of the whole device or refuses to start, and the trainer
loads first.

## How to fix
Lower `gpu_memory_utilization` below the free share, the first value in the message divided by the second, or offload the trainer's weights and optimiser to the host.

## Example
    ValueError: Free memory on device cuda:0 (48.97/79.18 GiB) on startup is less than desired GPU memory utilization
    (0.9, 71.26 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.
"""

from collections.abc import Iterator

from skyrl_doctor.budget.findings import fullest_phase
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.gpu.budget import GpuBudget, in_gib
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan

CAUSE = "gpu_memory_utilization asks for more memory than is free when vLLM starts; lower it, or start vLLM first"

ASKED = "vLLM was to take {asked} GiB of the GPU, and {free} of {total} GiB were free when it started"
FITTING = "Set `{key:rollout.gpu_memory_utilization}` below {free} / {total}, the share that was free. If you expected more to be free, `nvidia-smi` names the process that holds the rest (GPU003)."

KEYS = ("rollout.gpu_memory_utilization", "rollout.tensor_parallel_size", "rollout.free_cache_engine")

SIGNATURES = (
    Signature(
        pattern=r"Free memory on device (?:\w+:\d+ )?\((?P<free>[0-3](?:\.\d+)?)/(?P<total>(?:1[5-9]|[2-9]\d|1\d\d)(?:\.\d+)?) GiB\) on startup is less than desired GPU memory utilization",
        sample="ValueError: Free memory on device cuda:0 (1.53/22.05 GiB) on startup is less than desired GPU memory utilization (0.9, 19.84 GiB).",
        explain="only {free} of the GPU's {total} GiB were free when vLLM started: another process holds the rest",
        remedy="`nvidia-smi` on the node names the process: an older run that did not end, another job, or a trainer on the same GPU that loads first. End it or use another GPU; a trainer has to offload its weights before vLLM starts.",
        versions="vllm",
    ),
    Signature(
        pattern=r"Free memory on device (?:\w+:\d+ )?\((?P<free>[\d.]+)/(?P<total>[\d.]+) GiB\) on startup is less than desired GPU memory utilization(?: \([\d.]+, (?P<asked>[\d.]+) GiB\))?",
        sample="ValueError: Free memory on device (48.97/79.18 GiB) on startup is less than desired GPU memory utilization (0.9, 71.26 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
        explain=ASKED,
        remedy=FITTING,
        versions="vllm",
    ),
    Signature(
        pattern=r"is less than desired GPU memory utilization|[Ff]ree memory .{0,80}less than .{0,40}gpu_memory_utilization",
        sample="ValueError: Free memory on device cuda:0 (111.99/139.8 GiB) on startup is less than desired GPU memory utilization (0.95, 132.81 GiB).",
        explain=CAUSE,
        remedy="Lower `--gpu-memory-utilization` (`{key:rollout.gpu_memory_utilization}` of a trainer) to what is free, or end the process that holds the rest: `nvidia-smi` names it.",
        versions="vllm >= 0.12",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bfree\b.{0,20}\bmemory\b.{0,60}\b(?:less|smaller|lower) than\b.{0,80}utili[sz]ation|\bgpu_memory_utilization\b.{0,100}\b(?:more|greater|larger|exceeds|higher)\b.{0,60}\bfree\b",
    sample="RuntimeError: free GPU memory (3 GiB) is less than gpu_memory_utilization asks for (17 GiB)",
    explain=CAUSE,
    versions="any",
)

KEY = "rollout.gpu_memory_utilization"


@check("MEM003", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/memory/changes.py")
def vllm_share_exceeds_free(memory: GpuBudget, plan: Plan) -> Iterator[Finding]:
    engine = memory.budget.engine
    if engine is None:
        raise NotApplicable("vLLM has its own GPU")
    kept = fullest_phase(memory, "ROLLOUT").total - engine.awake
    left = memory.limit - kept - engine.context  # which vLLM has made before it looks
    if engine.requested <= left:
        return
    share = plan.name(KEY)
    largest = int(100 * max(0, left) / memory.budget.device.total) / 100
    message = f"{share} = {plan.number(KEY)} requests {in_gib(engine.requested)}; {memory.where} and the trainer keeps {in_gib(kept)} of it while vLLM generates; expected at most {largest}"
    yield config_finding(
        message, plan.place(KEY), {share: str(largest)} if largest > 0 else {}, summary=f"lower {share}"
    )
