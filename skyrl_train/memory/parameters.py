"""Counts parameters: in a decoder layer, outside the layers, and in LoRA adapters.

They are counted apart because FSDP gathers and frees them unit by unit: each decoder layer is a unit, and the embedding, the
last norm and the head are the root's (verl 0.9.1, utils/fsdp_utils.py get_fsdp_wrap_policy and apply_fsdp2).
"""

from collections.abc import Iterable
from functools import lru_cache

from skyrl_train.memory.shape import ModelShape

# peft's target_modules "all-linear": every nn.Linear except the output layer
LINEARS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def linears(shape: ModelShape) -> dict[str, tuple[int, int]]:
    """The size (in, out) of every linear map of one decoder layer, by its name in transformers."""
    return {
        "q_proj": (shape.hidden, shape.query_size),
        "k_proj": (shape.hidden, shape.kv_size),
        "v_proj": (shape.hidden, shape.kv_size),
        "o_proj": (shape.query_size, shape.hidden),
        "gate_proj": (shape.hidden, shape.intermediate),
        "up_proj": (shape.hidden, shape.intermediate),
        "down_proj": (shape.intermediate, shape.hidden),
    }


@lru_cache(maxsize=8)
def in_layer(shape: ModelShape) -> int:
    """Parameters of one decoder layer."""
    weights = sum(inputs * outputs for inputs, outputs in linears(shape).values())
    norms = 2 * shape.hidden + (2 * shape.head_dim if shape.qk_norm else 0)
    biases = (shape.query_size + 2 * shape.kv_size) * shape.qkv_bias
    biases += shape.hidden * shape.output_bias + (2 * shape.intermediate + shape.hidden) * shape.mlp_bias
    return weights + norms + biases


def in_embedding(shape: ModelShape) -> int:
    return shape.vocab * shape.hidden


def in_root(shape: ModelShape, *, value_head: bool = False) -> int:
    """Parameters outside the decoder layers: embedding, last norm and the head, unless it is the embedding itself."""
    if value_head:
        # transformers, modeling_layers.py GenericForTokenClassification: score = Linear(hidden, num_labels = 1)
        return in_embedding(shape) + shape.hidden + shape.hidden + 1
    return in_embedding(shape) * (1 if shape.tied else 2) + shape.hidden


def in_model(shape: ModelShape, *, value_head: bool = False) -> int:
    return shape.layers * in_layer(shape) + in_root(shape, value_head=value_head)


def in_adapters(shape: ModelShape, rank: int, targets: Iterable[str] = LINEARS) -> int:
    """Parameters of the LoRA adapters of one decoder layer: A is (in, rank) and B is (rank, out)."""
    sizes = linears(shape)
    return sum(rank * (sizes[name][0] + sizes[name][1]) for name in targets)
