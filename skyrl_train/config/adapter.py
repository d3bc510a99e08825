"""Whether a LoRA adapter reaches vLLM (TRN007). Pure.

verl 0.9.1 gets the adapter's tensors from peft (`get_peft_model_state_dict`). Since 0.21 peft finds them by module names.
FSDP1 puts `_fsdp_wrapped_module` into the module names but not into the state dict, so peft finds no tensor, on any
number of GPUs. vLLM's worker dies on an adapter without tensors, and the trainer waits for it for ever. FSDP2 keeps the
module names.
"""

STRUCTURAL = "0.21"
"""The first peft that uses module names; tested with 0.20.0 and 0.21.2."""

BY_UNIT = "0.9"
"""The first verl that looks for adapters in each FSDP unit; those before it (read: 0.4.1, 0.7.1, 0.8.0) go through the layers."""


def arrives_empty(*, strategy: str, lora: bool, merged: bool = False, peft: str | None = None) -> bool:  # FIX(TRN007)
    """Whether vLLM gets an adapter without tensors.

    `merged`: verl sends full weights (model.lora.merge). An unknown version of peft counts as a new one, since verl's
    requirements install a new one.
    """
    return lora and not merged and strategy == "fsdp" and _since(peft, STRUCTURAL)


def finds_no_unit(*, strategy: str, lora: bool, merged: bool, layered: bool, verl: str | None) -> bool:
    """Whether rollout.layered_summon finds no adapter under FSDP1. An unknown version of verl counts as a new one.

    FSDP1 makes each adapter matrix a unit of its own, whose parameter is called `weight`; verl looks for units with a
    parameter called `lora_`. Its fallback gathers the whole model on the host. On one GPU torch does not support that
    (`offload_to_cpu=True and NO_SHARD is not supported`); on several it works, and took 60 s for 14B on two GPUs.
    """
    return lora and layered and not merged and strategy == "fsdp" and _since(verl, BY_UNIT)


def _since(version: str | None, first: str) -> bool:
    if version is None:
        return True
    from packaging.version import InvalidVersion, Version  # only this combination needs it

    try:
        return Version(version) >= Version(first)
    except InvalidVersion:
        return True
