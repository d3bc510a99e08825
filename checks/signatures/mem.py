"""What the failures MEM look like in logs, where no check stands beside them yet."""

from skyrl_doctor.core.signature import Signature

SIGNATURES = {
    "MEM001": (
        Signature(
            pattern=r"CUDA out of memory\. Tried to allocate|\bOutOfMemoryError: (?:CUDA|HIP) out of memory|CUDA error: out of memory",
            sample="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB. GPU 0 has a total capacity of 19.62 GiB of which 1.02 GiB is free.",
            explain="the GPU's memory does not hold the model and its training state; take a smaller model, LoRA or more memory",
            versions="torch",
        ),
    ),
    "MEM002": (
        Signature(
            pattern=r"CUDA out of memory\. Tried to allocate|\bOutOfMemoryError: (?:CUDA|HIP) out of memory|CUDA error: out of memory",
            sample="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB. GPU 0 has a total capacity of 19.62 GiB of which 1.02 GiB is free.",
            explain="the update's logits and activations did not fit; chunk the entropy, remove padding, use micro-batch 1 and checkpointing",
            versions="torch, verl",
            near=r"entropy_from_logits|log_?probs?_from_logits|\.backward\(|run_backward|\bupdate_(?:actor|policy|critic)\b|backward pass",
            refines=("MEM001",),
        ),
    ),
    "MEM003": (
        Signature(
            pattern=r"Free memory on device .{0,80}on startup is less than desired GPU memory utilization",
            sample="ValueError: Free memory on device (48.97/79.18 GiB) on startup is less than desired GPU memory utilization (0.9, 71.26 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
            explain="vLLM's share is more than what is free when it starts; lower gpu_memory_utilization or start vLLM first",
            versions="vllm",
        ),
    ),
    "MEM005": (
        Signature(
            pattern=r"No available memory for the cache blocks|To serve at least one request with the model'?s max seq len",
            sample="ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
            explain="vLLM's share leaves no room for the KV cache of one request",
            versions="vllm",
        ),
    ),
    "MEM006": (
        Signature(
            pattern=r"out of memory at .{0,200}cumem_allocator",
            sample="CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62",
            explain="vLLM woke up while the trainer still held the memory; empty the cache before wake_up",
            versions="vllm",
        ),
        Signature(
            pattern=r"CUDA out of memory\. Tried to allocate|\bOutOfMemoryError: (?:CUDA|HIP) out of memory|CUDA error: out of memory",
            sample="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB. GPU 0 has a total capacity of 19.62 GiB of which 1.02 GiB is free.",
            explain="vLLM woke up while the trainer still held the memory; empty the cache before wake_up",
            versions="vllm, verl",
            near=r"\bwake_up\b",
            within=40,
            refines=("MEM001",),
        ),
    ),
}
