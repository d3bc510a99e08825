"""Counts parameters: in a decoder layer, outside the layers, and in LoRA adapters.

They are counted apart because FSDP gathers and frees them unit by unit: each decoder layer is a unit, and the embedding, the
last norm and the head are the root's (verl 0.9.1, utils/fsdp_utils.py get_fsdp_wrap_policy and apply_fsdp2).
"""

from collections.abc import Iterable
from functools import lru_cache

from skyrl_train.memory.shape import Experts, Latent, ModelShape, Wide
from skyrl_train.memory.shape import Linear as LinearAttention

# peft's target_modules "all-linear": every nn.Linear except the output layer
LINEARS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def linears(shape: ModelShape) -> dict[str, tuple[int, int]]:
    """The size (in, out) of every linear map of one decoder layer, by its name in transformers.

    Of a layer with experts: the shared one, since the routed experts are no nn.Linear (transformers 5).
    """
    width = shape.intermediate if shape.experts is None else shape.experts.shared
    return {
        "q_proj": (shape.hidden, shape.query_size * (1 + shape.gated_query)),
        "k_proj": (shape.hidden, shape.kv_size),
        "v_proj": (shape.hidden, shape.kv_size),
        "o_proj": (shape.query_size, shape.hidden),
        "gate_proj": (shape.hidden, width),
        "up_proj": (shape.hidden, width),
        "down_proj": (width, shape.hidden),
    }


@lru_cache(maxsize=8)
def in_layer(shape: ModelShape) -> int:
    """Parameters of the largest decoder layer."""
    experts = shape.experts
    others = (
        0 if shape.linear is None else _delta_net(shape, shape.linear),
        0 if shape.wide is None else _wide_attention(shape, shape.wide),
    )
    attention = max(_attention(shape), *others)
    return shape.norms * shape.hidden + attention + (_mlp(shape) if experts is None else in_experts(shape))


@lru_cache(maxsize=8)
def in_layers(shape: ModelShape) -> int:
    """Parameters of all decoder layers."""
    experts, linear = shape.experts, shape.linear
    total = shape.layers * shape.norms * shape.hidden + shape.full_attention * _attention(shape)
    if shape.wide is not None:
        total += shape.wide.layers * (_wide_attention(shape, shape.wide) - _attention(shape))
    if linear is not None:
        total += linear.layers * _delta_net(shape, linear)
    dense = shape.layers if experts is None else experts.dense_layers
    return total + dense * _mlp(shape) + (shape.layers - dense) * in_experts(shape)


def _attention(shape: ModelShape) -> int:
    if shape.latent is not None:
        return _latent_attention(shape, shape.latent)
    query = shape.query_size * (1 + shape.gated_query)
    weights = shape.hidden * (query + 2 * shape.kv_size + shape.query_size)
    biases = (query + 2 * shape.kv_size) * shape.qkv_bias + shape.hidden * shape.output_bias
    return weights + biases + 2 * shape.head_dim * shape.qk_norm + shape.heads * shape.sinks


def _wide_attention(shape: ModelShape, wide: Wide) -> int:
    """Gemma4TextAttention of a layer without a window: q, o, k and, unless the keys are the values, v; two norms."""
    maps = 2 * shape.heads + wide.kv_heads * (1 if wide.shared else 2)
    return shape.hidden * maps * wide.head_dim + 2 * wide.head_dim


def _latent_attention(shape: ModelShape, latent: Latent) -> int:
    """DeepseekV3Attention: q_a, q_b, kv_a, kv_b and o, with a norm after each compression."""
    rank, wide = latent.query_rank, shape.heads * (latent.plain + latent.rotated)
    query = shape.hidden * wide if rank is None else shape.hidden * rank + rank + rank * wide
    compressed = shape.hidden * (latent.kv_rank + latent.rotated) + latent.kv_rank
    expanded = latent.kv_rank * shape.heads * (latent.plain + latent.value)
    return query + compressed + expanded + shape.heads * latent.value * shape.hidden


def _delta_net(shape: ModelShape, linear: LinearAttention) -> int:
    """Qwen3_5GatedDeltaNet: the maps to q, k, v, z, b and a, the convolution, and the map back."""
    keys, values, heads = linear.keys, linear.values, linear.value_heads
    maps = shape.hidden * (2 * keys + 2 * values + 2 * heads) + values * shape.hidden
    return maps + linear.kernel * (2 * keys + values) + 2 * heads + linear.value_dim


def _mlp(shape: ModelShape) -> int:
    return 3 * shape.hidden * shape.intermediate + (2 * shape.intermediate + shape.hidden) * shape.mlp_bias


def in_experts(shape: ModelShape) -> int:
    """Parameters of a layer's experts, with their router; 0 for a dense model."""
    experts: Experts | None = shape.experts
    if experts is None:
        return 0
    routed = 3 * shape.hidden * experts.intermediate + (2 * experts.intermediate + shape.hidden) * experts.biases
    router = shape.hidden + experts.biases + experts.scales
    shared = 3 * shape.hidden * experts.shared + shape.hidden * experts.shared_gate
    return experts.number * (routed + router) + shared


def in_embedding(shape: ModelShape) -> int:
    return shape.vocab * shape.hidden


def in_root(shape: ModelShape, *, value_head: bool = False) -> int:
    """Parameters outside the decoder layers: embedding, last norm and the head, unless it is the embedding itself."""
    if value_head:
        # transformers, modeling_layers.py GenericForTokenClassification: score = Linear(hidden, num_labels = 1)
        return in_embedding(shape) + shape.hidden + shape.hidden + 1
    return in_embedding(shape) * (1 if shape.tied else 2) + shape.hidden


def in_model(shape: ModelShape, *, value_head: bool = False) -> int:
    return in_layers(shape) + shape.vision + in_root(shape, value_head=value_head)


def active_in_model(shape: ModelShape) -> int:
    """The parameters that one token passes."""
    experts = shape.experts
    if experts is None:
        return in_model(shape) - shape.vision
    unused = 3 * shape.hidden * experts.intermediate * (experts.number - experts.per_token)
    return in_model(shape) - shape.vision - (shape.layers - experts.dense_layers) * unused


def in_expert_adapters(shape: ModelShape, rank: int) -> int:
    """Parameters of the adapters of one layer's routed experts, as prime-rl makes them."""
    experts: Experts | None = shape.experts
    return 0 if experts is None else experts.number * 3 * rank * (shape.hidden + experts.intermediate)


def in_adapters(shape: ModelShape, rank: int, targets: Iterable[str] = LINEARS) -> int:
    """Parameters of the LoRA adapters of one decoder layer: A is (in, rank) and B is (rank, out)."""
    sizes = linears(shape)
    return sum(rank * (sizes[name][0] + sizes[name][1]) for name in targets if all(sizes[name]))
