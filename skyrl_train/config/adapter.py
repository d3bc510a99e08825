"""Which way a LoRA adapter reaches vLLM, and which way it does not (TRN007). Pure.

verl 0.9.1 takes the adapter's tensors from peft (`get_peft_model_state_dict`). Since 0.21 peft finds them by the names of
its modules, and FSDP1 puts `_fsdp_wrapped_module` into those names and not into those of the state dict: none is left, for any
number of GPUs. vLLM's worker dies of an adapter without tensors, and the trainer waits for it for ever. FSDP2 leaves names as they are.
"""

STRUCTURAL = "0.21"
"""The first peft that goes by the names of modules; 0.20.0 and 0.21.2 were tried."""


def arrives_empty(*, strategy: str, lora: bool, merged: bool = False, peft: str | None = None) -> bool:  # FIX(TRN007)
    """Whether vLLM gets an adapter without tensors. `merged`: verl sends whole weights (model.lora.merge). Without a
    version of peft it is a new one, which verl's own requirements bring."""
    if not lora or merged or strategy != "fsdp":
        return False
    if peft is None:
        return True
    from packaging.version import InvalidVersion, Version  # for the one combination that asks

    try:
        return Version(peft) >= Version(STRUCTURAL)
    except InvalidVersion:
        return True


def gathers_by_layers(*, strategy: str, lora: bool, merged: bool, layered: bool) -> bool:
    """rollout.layered_summon under FSDP1: each adapter matrix is a unit of its own there, the walk over layers finds none
    of them, and on one GPU its way out is not written in torch (`offload_to_cpu=True and NO_SHARD is not supported`)."""
    return lora and layered and not merged and strategy == "fsdp"
