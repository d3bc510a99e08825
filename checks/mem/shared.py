"""How programs report that a GPU has no memory left."""

ALLOCATOR_ERRORS = r"\b(?:NPU|XPU|MUSA|HPU|MPS backend) out of memory|Failed to CUDA (?:calloc|malloc|host alloc)|(?:CUDA driver|CUDA runtime|HIP|Triton) [Ee]rror(?: \[(?:CUDA|HIP)\])?: out of memory|CUDA_ERROR_OUT_OF_MEMORY|would exceed allowed memory|Ran out of memory in memory space hbm|CU(?:DNN|SOLVER|SPARSE)_STATUS_ALLOC_FAILED"
TORCH_OOM = r"CUDA out of memory\. Tried to allocate(?! \d{5,}\.\d\d GiB)(?: (?P<size>[\d.]+ [KMGT]i?B)\. GPU \d+ has a total capacity of (?P<total>[\d.]+ [KMGT]i?B))?|\bOutOfMemoryError: (?:CUDA|HIP) out of memory(?!\. Tried to allocate \d{5,}\.\d\d GiB)|CUDA error: out of memory"
"""What torch prints. A size of ten thousand GiB and more comes from numbers that another failure made wrong."""
OOM = rf"{TORCH_OOM}|cudaErrorMemoryAllocation|CUBLAS_STATUS_ALLOC_FAILED|HIP out of memory|{ALLOCATOR_ERRORS}"
"""All of them."""
OOM_SAMPLE = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB. GPU 0 has a total capacity of 19.62 GiB of which 1.02 GiB is free."
