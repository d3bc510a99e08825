"""vLLM gets a LoRA adapter without tensors, and the run hangs.

## What it does
Finds FSDP1 (verl's default strategy, `fsdp`) together with an adapter that verl does not merge, if the training
interpreter has peft 0.21 or later, or (as a warning) if its peft version is unknown. Earlier versions pass. Also
finds `actor_rollout_ref.rollout.layered_summon` with FSDP1 and verl 0.9 or later, whatever the version of peft.

## Why it breaks training
Since 0.21 peft finds an adapter's tensors by the names of modules. FSDP1 changes those names, so verl sends no
tensor. vLLM's worker dies with an empty `StopIteration` at the first weight sync, the trainer does not notice, and
the job holds its GPU until its time limit.

Since 0.9 verl looks for the adapter in each FSDP unit, and finds none under FSDP1. On one GPU its fallback stops the
run. On several GPUs the fallback copies the whole model to the host of each rank at each weight sync: 60 s for 14B on
two GPUs.

## How to fix
Use FSDP2 (`actor_rollout_ref.actor.strategy=fsdp2`, and the same for `ref` and the critic). Or let verl send whole
weights (`actor_rollout_ref.model.lora.merge=True`), or keep `peft<0.21`.

## Example
    File ".../vllm/lora/model_manager.py", line 512, in _create_merged_loras_inplace
    StopIteration
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Role, Severity
from skyrl_doctor.core.signature import Part, Signature
from skyrl_doctor.facts.interpreter import Interpreter
from skyrl_doctor.plan.answers import PRIME, merges_adapter, trained_gpus
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.adapter import arrives_empty, finds_no_unit

CAUSE = "the trainer sent vLLM a LoRA adapter without tensors"

SIGNATURES = (
    Signature(
        pattern=r"(?:^\W{0,8}|\]:? |[-|\"] ?)\W*StopIteration\W*$",
        sample="StopIteration",
        explain=CAUSE,
        versions="vllm, verl",
        near=r"lora/(?:model_manager|models|worker_manager|peft_helper)|add_lora|add_adapter",
        within=40,
    ),
    Signature(
        pattern=r"[Ll]o[Rr][Aa] (?:adapter|request|model).{0,120}(?:has no (?:tensors|weights)|is empty|contains no|no (?:tensors|weights))",
        sample="ValueError: LoRA adapter 123 contains no weights",
        explain=CAUSE,
        versions="vllm",
    ),
    Signature(
        pattern=r"offload_to_cpu=True and NO_SHARD is not supported",
        sample="NotImplementedError: offload_to_cpu=True and NO_SHARD is not supported yet",
        explain="FSDP1 on one GPU cannot gather a LoRA adapter layer by layer; use fsdp2 or turn off layered_summon",
        versions="torch, verl",
        near=r"(?i:lora|peft|adapter)",
    ),
    Signature(
        pattern=r"\b_create_merged_loras_inplace\b",
        sample='  File "/venv/lib/python3.12/site-packages/vllm/lora/model_manager.py", line 512, in _create_merged_loras_inplace',
        explain="vLLM was merging a LoRA adapter",
        role=Part.CONFIRMATION,  # other exceptions pass through this function too
        versions="vllm 0.24, verl 0.9.1, peft >= 0.21",
    ),
)

RANK, STRATEGY = "model.lora_rank", "actor.strategy"
LAYERED = "actor_rollout_ref.rollout.layered_summon"


@check("TRN007", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/config/adapter.py")
def lora_adapter_sent_empty(plan: Plan, interpreter: Interpreter | None) -> Iterator[Finding]:
    rank = required(plan).integer(RANK) or 0
    if rank == 0 or plan.is_of(*PRIME):
        raise NotApplicable("the configuration trains no LoRA adapter through verl")
    strategy, merged = plan.text(STRATEGY) or "fsdp2", merges_adapter(plan)
    peft = None if interpreter is None else interpreter.packages.get("peft")
    if arrives_empty(strategy=strategy, lora=True, merged=merged, peft=peft):
        setting = f"{plan.name(STRATEGY)} is {strategy!r} with a LoRA adapter ({plan.name(RANK)} = {rank})"
        if peft:
            message = f"{setting} and peft {peft}, so vLLM gets an adapter without tensors and the run hangs; expected 'fsdp2'"
        else:
            message = f"{setting}; with peft 0.21 or later vLLM would get an adapter without tensors and the run would hang, and this run's peft is not known; expected 'fsdp2', or an older peft"
        severity = Severity.ERROR if peft else Severity.WARNING  # an older peft, which nobody saw, would do
        settings = plan.settings({STRATEGY: "fsdp2"})
        yield config_finding(message, plan.place(STRATEGY), settings, summary="use FSDP2", severity=severity)
        return
    verl = None if interpreter is None else interpreter.packages.get("verl")
    found = plan.own.get(LAYERED)
    layered = found is not None and found.value is True
    if finds_no_unit(strategy=strategy, lora=True, merged=merged, layered=layered, verl=verl):
        alone = trained_gpus(plan) == 1
        consequence = (
            "the run stops at its first weight sync" if alone else "each weight sync copies the whole model to the host"
        )
        which = f"verl {verl}" if verl else "verl 0.9 or later (this run's is not known)"
        message = f"{LAYERED} is on with {plan.name(STRATEGY)} = {strategy!r}, where {which} finds no adapter and {consequence}; expected 'fsdp2'"
        severity = Severity.ERROR if alone and verl else Severity.WARNING
        settings = plan.settings({STRATEGY: "fsdp2"})
        yield config_finding(message, plan.own[LAYERED].location, settings, summary="use FSDP2", severity=severity)
