"""Bytes of tokens x vocabulary, through logits, entropy, log-prob and back.

Most runs that run out of memory do so here: with a vocabulary of 151,936 one float32 copy takes 0.58 MiB for every
token. The copies are those of verl 0.9.1, workers/engine/fsdp/transformer_impl.py prepare_model_outputs (1330-1560) and
utils/torch_functional.py logprobs_from_logits, entropy_from_logits, under CUDA's bfloat16 autocast, which computes
softmax, log_softmax, logsumexp and sum in float32 (aten/src/ATen/autocast_mode.h AT_FORALL_FP32). Each sum below is what
autograd holds, measured operator by operator.
"""

from typing import NamedTuple

from skyrl_train.memory.job import Job
from skyrl_train.memory.units import BF16, FP32

FUSED_CHUNK = 512  # verl utils/experimental/torch_functional.py FusedLinearForPPOFunction.forward: chunk_size=512


class LogitsCost(NamedTuple):
    """Bytes of one micro batch: at the peak of the forward, kept until the backward, and at the peak of the backward."""

    forward: float
    kept: float = 0
    backward: float = 0
    rows: float = 0  # of the forward's and of what is kept: one small tensor a token


def logits_cost(vocab: int, job: Job, tokens: int, *, entropy: bool, train: bool) -> LogitsCost:
    if job.whole_cross_entropy:
        size = (
            tokens * vocab
        )  # the model's output, its float32 copy, the log-softmax, and in the backward two gradients
        return LogitsCost(size * (BF16 + 2 * FP32), size * (BF16 + 2 * FP32), size * (BF16 + 4 * FP32))
    if job.fused_kernels is not None:
        return _fused(vocab, job, tokens, entropy=entropy)
    size = tokens * vocab
    scaled = BF16 * (job.temperature != 1.0)  # _scale_logits_by_temperature: the model's output is still held
    first = BF16 + scaled
    again = 0 if job.remove_padding else BF16  # torch.cat of the valid rows
    if not train:
        return LogitsCost(size * first + max(size * again, _entropy_work(job, tokens) * vocab * entropy))
    rows = 0 if job.flash_cross_entropy else FP32  # log_softmax of each row, kept for its backward
    if entropy and not job.entropy_gradient:
        return _with_figure(logits_cost(vocab, job, tokens, entropy=False, train=True), vocab, job, tokens)
    graph = _kept_by_entropy(job) * entropy
    at_entropy = size * first + _entropy_work(job, tokens) * vocab * entropy
    if _chunked(job) and entropy:  # what the chunks before keep, and the product of the last
        at_entropy = size * (first + graph) + _chunk(job, tokens) * FP32 * vocab
    held = _held_for_backward(job, entropy=entropy)
    return LogitsCost(
        forward=max(at_entropy, size * (first + again + rows + graph)),
        kept=size * held,
        backward=size * max(held, _backward(job, entropy=entropy)) + _chunk_work(job, tokens) * vocab * entropy,
        rows=size * rows,
    )


def _with_figure(plain: LogitsCost, vocab: int, job: Job, tokens: int) -> LogitsCost:
    """The entropy without a gradient, computed beside the logits and the rows that the backward pass keeps."""
    at_entropy = plain.kept + _entropy_work(job, tokens) * vocab
    return plain._replace(forward=max(plain.forward, at_entropy))


def _chunked(job: Job) -> bool:
    """Whether the entropy is chunked. Without remove_padding verl ignores the setting."""
    return job.entropy_chunk is not None and job.remove_padding and not job.torch_compile


def _compiled(job: Job) -> bool:
    """Whether the entropy is compiled into kernels that read the logits; only with remove_padding."""
    return job.torch_compile and job.remove_padding


def _entropy_work(job: Job, tokens: int) -> float:
    """Bytes per vocabulary entry at logsumexp: the softmax, the float32 copy, and ReduceOps.cpp's (self - maxes).exp_()."""
    if _compiled(job):
        return 0
    return _chunk(job, tokens) * 3 * FP32


def _kept_by_entropy(job: Job) -> int:
    """Bytes that the entropy's graph keeps in addition to the logits: softmax and float32 copy."""
    return 0 if job.entropy_checkpointing or _compiled(job) else 2 * FP32


def _held_for_backward(job: Job, *, entropy: bool) -> int:
    rows = BF16 if job.flash_cross_entropy else FP32
    # The nested view keeps the padded logits, and flash-attn's cross-entropy keeps the copy that it was given.
    padded = 0 if job.remove_padding else BF16
    if not entropy:
        return rows + padded
    whole = not _chunked(job) or job.entropy_checkpointing  # the entropy's graph keeps the logits, not copies of chunks
    shared = job.flash_cross_entropy and job.remove_padding  # which the cross-entropy keeps too
    return rows + max(BF16 * (whole and not shared), padded) + _kept_by_entropy(job)


def _backward(job: Job, *, entropy: bool) -> int:
    if entropy and _compiled(job):
        return 3 * BF16  # logits, and the gradients of log-prob and entropy
    if entropy and _chunked(job):
        return 3 * FP32  # each chunk's gradient is added to one of the whole
    if entropy:
        # logsumexp's backward, FunctionsManual.cpp: grad * (self - result).exp() beside what was kept; 26 = 6 float32
        # copies and the gradient; recomputed under entropy_checkpointing with the forward's two copies less
        return 8 * BF16 if job.entropy_checkpointing else 6 * FP32 + BF16
    if job.flash_cross_entropy:
        # in place of the logits; a scaling or the padded copy makes one more each
        return BF16 * (1 + (job.temperature != 1.0) + 2 * (not job.remove_padding))
    return FP32 + (0 if job.remove_padding else BF16)


def _chunk(job: Job, tokens: int) -> int:
    """The number of rows whose entropy is computed at once."""
    return min(tokens, job.entropy_chunk or tokens) if _chunked(job) else tokens


def _chunk_work(job: Job, tokens: int) -> float:
    return _chunk(job, tokens) * 2 * FP32 if _chunked(job) else 0


def _fused(vocab: int, job: Job, tokens: int, *, entropy: bool) -> LogitsCost:
    """_fused_linear_for_ppo_fwd and _bwd: float32 logits, softmax and one work copy a chunk; the backward adds the
    one-hot rows, their difference, the product and its sum, and for the entropy two more. The triton kernel makes none of them."""
    if job.fused_kernels == "triton":
        return LogitsCost(0)
    chunk = min(tokens, FUSED_CHUNK) * vocab
    return LogitsCost(forward=chunk * 3 * FP32, backward=chunk * FP32 * (8 if entropy else 6))
