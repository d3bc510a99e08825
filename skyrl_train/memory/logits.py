"""Bytes an element of tokens x vocabulary, through log-prob, entropy and loss.

verl 0.9.1: workers/engine/fsdp/transformer_impl.py FSDPEngineWithLMHead.prepare_model_outputs and
utils/torch_functional.py logprobs_from_logits, entropy_from_logits. This is where most runs end that run out of memory:
with a vocabulary of 151,936 one float32 copy is 0.58 MiB for every token.
"""

from dataclasses import dataclass

from skyrl_train.memory.job import Job
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.units import BF16, FP32

FUSED_CHUNK = 512  # verl utils/experimental/torch_functional.py FusedLinearForPPO: chunk_size=512


@dataclass(frozen=True)
class LogitsCost:
    """Bytes for the whole micro batch: what the forward needs at its fullest, and the backward."""

    forward: int
    backward: int
    entropy_forward: int = 0


def logits_cost(shape: ModelShape, job: Job, tokens: int, *, entropy: bool, train: bool) -> LogitsCost:
    if job.fused_kernels is not None:
        chunk = min(tokens, FUSED_CHUNK) * shape.vocab
        return LogitsCost(forward=chunk * (BF16 + 3 * FP32), backward=chunk * (BF16 + 3 * FP32))
    size = tokens * shape.vocab
    copies = BF16  # the logits themselves
    if job.temperature != 1.0:
        copies += BF16
    if not job.remove_padding:
        copies += BF16  # the valid rows are concatenated again
    extra = 0
    if entropy:
        rows = min(tokens, job.entropy_chunk) if job.entropy_chunk else tokens
        extra = rows * shape.vocab * (3 * FP32)
    kept_log_probs = 0 if job.flash_cross_entropy or not train else FP32
    kept_entropy = (FP32 + BF16) * size if entropy and train and not job.entropy_checkpointing else 0
    forward = size * (copies + kept_log_probs)
    return LogitsCost(
        forward=forward, backward=size * (kept_log_probs + 2 * BF16) + kept_entropy, entropy_forward=extra
    )
