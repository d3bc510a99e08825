"""Whether off-loading works with a LoRA adapter (TRN003)."""


def moves_adapter_to_cpu(*, cpu_offload: bool, lora: bool) -> bool:  # FIX(TRN003)
    """Whether FSDP's CPU off-loading keeps the base model on the CPU while the adapter is on the GPU."""
    return cpu_offload and lora
