"""The sizes of a model that determine its memory, in elements."""

from typing import NamedTuple


class Experts(NamedTuple):
    """The experts that replace the MLP of a layer."""

    number: int
    per_token: int
    intermediate: int
    shared: int = 0  # width of the experts that every token passes
    shared_gate: bool = False
    biases: bool = False
    dense_layers: int = 0  # layers that keep an MLP
    scales: bool = False  # one learned number for each expert

    @property
    def active(self) -> int:
        """The width that one token passes."""
        return self.per_token * self.intermediate + self.shared


class Latent(NamedTuple):
    """Attention over a compressed key and value (DeepSeek's MLA)."""

    query_rank: int | None
    kv_rank: int
    plain: int  # of a head's key: without and with a rotated position
    rotated: int
    value: int


class Linear(NamedTuple):
    """Layers with a recurrent state in place of attention (Qwen3-Next's gated delta net)."""

    layers: int
    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int

    @property
    def keys(self) -> int:
        return self.key_heads * self.key_dim

    @property
    def values(self) -> int:
        return self.value_heads * self.value_dim


class Wide(NamedTuple):
    """The layers of Gemma 4 that see the whole context: their heads have another size, and keys may serve as values."""

    layers: int
    kv_heads: int
    head_dim: int
    shared: bool


class ModelShape(NamedTuple):
    """A decoder: dense or with experts, and the vision tower in front of it."""

    family: str
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocab: int
    tied: bool
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    qk_norm: bool = False
    max_positions: int | None = None
    norms: int = 2  # of a layer
    gated_query: bool = False  # the query map also gives a gate for the output
    sinks: bool = False  # one learned number a head
    experts: Experts | None = None
    latent: Latent | None = None
    linear: Linear | None = None
    windowed: int = 0  # layers that see only `window` tokens
    window: int | None = None
    wide: Wide | None = None
    vision: int = 0  # parameters of the vision tower

    @property
    def query_size(self) -> int:
        return self.heads * self.head_dim

    @property
    def kv_size(self) -> int:
        """The width of the keys, and of the values. Latent attention expands both for every head."""
        if self.latent is not None:
            return self.heads * (self.latent.plain + self.latent.rotated + self.latent.value) // 2
        return self.kv_heads * self.head_dim

    @property
    def mlp_size(self) -> int:
        """The width of the MLP that one token passes."""
        return self.intermediate if self.experts is None else self.experts.active

    @property
    def full_attention(self) -> int:
        """The number of layers with attention."""
        return self.layers - (0 if self.linear is None else self.linear.layers)

    @property
    def is_measured(self) -> bool:
        """Whether runs of this kind of model are among the calibration."""
        special = (self.experts, self.latent, self.linear, self.wide)
        return all(part is None for part in special) and not self.vision
