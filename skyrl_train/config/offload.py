"""Which off-loading goes with which adapter (TRN003)."""


def moves_adapter_to_cpu(*, cpu_offload: bool, lora: bool) -> bool:  # FIX(TRN003)
    """FSDP's own CPU off-loading keeps the base on the host while the adapter is made on the GPU."""
    return cpu_offload and lora
