"""Whether a LoRA adapter reaches vLLM (TRN007). Pure.

verl 0.9.1 gets the adapter's tensors from peft (`get_peft_model_state_dict`). Since 0.21 peft finds them by module names.
FSDP1 puts `_fsdp_wrapped_module` into the module names but not into the state dict, so peft finds no tensor, on any
number of GPUs. vLLM's worker dies on an adapter without tensors, and the trainer waits for it for ever. FSDP2 keeps the
module names.
"""

STRUCTURAL = "0.21"
"""The first peft that uses module names; tested with 0.20.0 and 0.21.2."""


def arrives_empty(*, strategy: str, lora: bool, merged: bool = False, peft: str | None = None) -> bool:  # FIX(TRN007)
    """Whether vLLM gets an adapter without tensors.

    `merged`: verl sends full weights (model.lora.merge). An unknown version of peft counts as a new one, since verl's
    requirements install a new one.
    """
    if not lora or merged or strategy != "fsdp":
        return False
    if peft is None:
        return True
    from packaging.version import InvalidVersion, Version  # only this combination needs it

    try:
        return Version(peft) >= Version(STRUCTURAL)
    except InvalidVersion:
        return True


def gathers_by_layers(*, strategy: str, lora: bool, merged: bool, layered: bool) -> bool:
    """Whether rollout.layered_summon fails under FSDP1.

    FSDP1 wraps each adapter matrix separately, so the loop over layers finds none of them. On one GPU torch does not
    support the fallback (`offload_to_cpu=True and NO_SHARD is not supported`).
    """
    return lora and layered and not merged and strategy == "fsdp"
