"""Bytes that a decoder layer keeps for its backward pass, and what the backward pass itself needs.

Counted from transformers 5.9.0 models/qwen2/modeling_qwen2.py (the other three families are generated from the same
file) under verl's bfloat16 autocast, tensor by tensor as autograd saves them; tests/…/oracle holds the same count made
by autograd itself.
"""

from skyrl_train.memory.job import Job
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.units import BF16, FP32

NORMS = 2  # of a decoder layer


def saved_by_norm(shape: ModelShape) -> int:
    """Qwen2RMSNorm.forward: the input in float32, the normalised value in bfloat16, and the output for the next map."""
    return shape.hidden * (FP32 + BF16 + BF16) + FP32


def saved_by_attention(shape: ModelShape, job: Job, longest: int) -> int:
    """Query, key, value after the rotation, the output (which is the output projection's input), and the sums."""
    query, key = shape.query_size * BF16, shape.kv_size * BF16
    if job.attention == "flash_attention_2":
        return 2 * query + 2 * key + shape.heads * FP32
    if job.attention == "sdpa":  # integrations/sdpa_attention.py repeat_kv: keys and values repeated for every head
        return 4 * query + shape.heads * FP32
    # eager_attention_forward: the scores' softmax in float32 and again in bfloat16, each heads x longest a token
    return 4 * query + shape.heads * longest * (FP32 + BF16)


def saved_by_mlp(shape: ModelShape) -> int:
    """Gate, its SiLU, up and their product."""
    return 4 * shape.intermediate * BF16


def saved_by_layer(shape: ModelShape, job: Job, longest: int) -> int:
    """Bytes a token that one decoder layer keeps without checkpointing."""
    qk_norm = (shape.query_size + shape.kv_size) * (FP32 + BF16) if shape.qk_norm else 0
    kept = NORMS * saved_by_norm(shape) + saved_by_attention(shape, job, longest) + saved_by_mlp(shape) + qk_norm
    if job.lora_rank:
        kept += len(job.lora_targets) * job.lora_rank * BF16
    return kept


def backward_work(shape: ModelShape) -> int:
    """Bytes a token that one layer's backward needs beside what was saved: the MLP's gradients."""
    return 3 * shape.intermediate * BF16 + 2 * shape.hidden * BF16


def checkpoint(shape: ModelShape) -> int:
    """Bytes a token of the one tensor that a checkpointed layer keeps: its input."""
    return shape.hidden * BF16
