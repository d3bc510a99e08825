"""Bytes that a decoder layer keeps for its backward pass, and bytes that the backward pass needs.

Counted from transformers 5.9.0 models/qwen2/modeling_qwen2.py (the other three families are generated from the same
file) under verl's bfloat16 autocast, tensor by tensor as autograd saves them; tests/…/oracle holds the same count made
by autograd itself.
"""

from skyrl_train.memory.job import Job
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.units import BF16, FP32

NORMS = 2  # of a decoder layer


COPIES = 11
"""Copies of the hidden state for each expert of a token: routed, computed and weighted in float32, and their gradients.

Fitted to two models at two lengths in prime-rl's own measurements (benchmarks/results/BENCHMARKS.md).
"""


def saved_by_norm(shape: ModelShape) -> int:
    """Qwen2RMSNorm.forward: the input in float32, the normalised value in bfloat16, and the output for the next map."""
    return shape.hidden * (FP32 + BF16 + BF16) + FP32


def saved_by_attention(shape: ModelShape, job: Job) -> int:
    """Query, key, value after the rotation, the output (which is the output projection's input), and the row sums."""
    query, key, sums = shape.query_size * BF16, shape.kv_size * BF16, shape.heads * FP32
    if job.attention == "flash_attention_2":
        # verl models/transformers/monkey_patch.py _ulysses_flash_attention_forward: of several ranks the output is there
        # with all tokens and with all heads, and a rank has at least one head of keys and values
        shared = job.sequence_parallel > 1 and job.strategy != "megatron"
        repeats = max(1, job.sequence_parallel // shape.kv_heads) if shared else 1
        return (2 + shared) * query + 2 * key * repeats + sums
    if job.attention == "sdpa":
        # integrations/sdpa_attention.py use_gqa_in_sdpa: a mask makes it repeat keys and values for every head, and
        # there is a mask unless the sequences of a micro batch are of one length
        masked = not job.remove_padding and job.micro_batch > 1 and not job.equal_lengths
        return 4 * query + sums if masked else 2 * query + 2 * key + sums
    # eager_attention_forward: the scores' softmax in float32 and again in bfloat16, each heads x longest a token
    return 4 * query + shape.heads * job.longest * (FP32 + BF16)


def saved_by_mlp(shape: ModelShape) -> int:
    """Gate, its SiLU, up and their product; of experts also copies of the hidden state."""
    copies = 0 if shape.experts is None else COPIES * shape.experts.per_token * shape.hidden
    return (4 * shape.mlp_size + copies) * BF16


def saved_by_layer(shape: ModelShape, job: Job) -> int:
    """Bytes per token that one decoder layer keeps without checkpointing."""
    if job.strategy == "megatron":
        return _saved_by_megatron(shape)
    heads = shape.query_size + shape.kv_size
    qk_norm = heads * (FP32 + BF16) + (shape.heads + shape.kv_heads) * FP32 if shape.qk_norm else 0
    kept = NORMS * saved_by_norm(shape) + saved_by_attention(shape, job) + saved_by_mlp(shape) + qk_norm
    return kept + _adapters_instead(shape, job) if job.lora_rank else kept


def _saved_by_megatron(shape: ModelShape) -> int:
    """Megatron's fused layers keep all in bfloat16: input and output of both norms; query, key, value and output of the
    attention; both halves of the MLP's first map and their product; and each expert's input and output."""
    norms = 2 * NORMS * shape.hidden + (shape.query_size + shape.kv_size) * shape.qk_norm
    attention = 2 * shape.query_size + 2 * shape.kv_size
    routed = 0 if shape.experts is None else 2 * shape.experts.per_token * shape.hidden
    return (norms + attention + 3 * shape.mlp_size + routed) * BF16


def _adapters_instead(shape: ModelShape, job: Job) -> int:
    """The difference that LoRA makes: each adapter's intermediate is added; normalised values (the norms are frozen) and
    the inputs of frozen maps without an adapter are not kept."""
    targets = set(job.lora_targets)
    middles = len(targets) * job.lora_rank
    frozen = NORMS * shape.hidden + (shape.query_size + shape.kv_size) * shape.qk_norm
    frozen += shape.hidden * (not targets & {"q_proj", "k_proj", "v_proj"})
    frozen += shape.hidden * (not targets & {"gate_proj", "up_proj"}) + shape.mlp_size * ("down_proj" not in targets)
    return BF16 * (middles - frozen)


def backward_work(shape: ModelShape, job: Job) -> int:
    """Bytes per token in addition to the saved ones: gradients of product, SiLU and up (less the product) and residual.

    prime-rl scales an adapter's output, whose gradient is one more tensor (its multi_linear.py MultiLoRALinear.forward).
    """
    scaled = shape.mlp_size * (job.framework == "prime-rl" and job.lora_rank > 0)
    return (2 * shape.mlp_size + 2 * shape.hidden + scaled) * BF16


def forward_work(shape: ModelShape) -> int:
    """Bytes per token of a layer's forward pass that keeps nothing: gate's SiLU, up, their product, and the residual."""
    return 3 * shape.mlp_size * BF16 + 4 * shape.hidden * BF16


def checkpoint(shape: ModelShape) -> int:
    """Bytes per token of the only tensor that a checkpointed layer keeps: its input."""
    return shape.hidden * BF16
