"""Units of bytes and sizes of data types."""

GIB = 1024**3
MIB = 1024**2

FP32, BF16, INT64 = 4, 2, 8  # bytes of one element
DTYPE_BYTES = {"fp32": 4, "float32": 4, "float": 4, "bf16": 2, "bfloat16": 2, "fp16": 2, "float16": 2, "half": 2}
SERVED_BYTES = {**DTYPE_BYTES, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "fp8_ds_mla": 1, "int8": 1}
"""vLLM's weights and cache may be narrower than what is trained."""


def gib(size: float) -> float:
    return size / GIB
