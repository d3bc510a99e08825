"""Reads the shape of a model from its config.json.

Supported are dense decoders of the Qwen2, Qwen3, Llama and Mistral families. Others are refused with the reason, because
a formula for the wrong architecture would still give a number.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from skyrl_train.config.models import longest_context
from skyrl_train.contracts.typed import Fields, FormatError, as_object, parse_object
from skyrl_train.memory.errors import BadModelError, UnsupportedModelError

NAME = "config.json"
FAMILIES = {"qwen2": "Qwen2", "qwen3": "Qwen3", "llama": "Llama", "mistral": "Mistral"}
# transformers 5.9.0, models/qwen3/configuration_qwen3.py: Qwen3Config.head_dim = 128, whatever hidden_size is
QWEN3_HEAD_DIM = 128
MIXTURE_KEYS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_intermediate_size", "num_experts_per_tok")
MODALITY_KEYS = ("vision_config", "audio_config", "visual", "thinker_config", "text_config")
# Far beyond any existing model, so that only typing errors and damaged files are refused.
LIMITS = {
    "hidden_size": 131_072,
    "num_hidden_layers": 1_024,
    "num_attention_heads": 1_024,
    "num_key_value_heads": 1_024,
    "head_dim": 1_024,
    "intermediate_size": 1_048_576,
    "vocab_size": 4_194_304,
    "max_position_embeddings": 1_073_741_824,
}


class ModelShape(NamedTuple):
    """The sizes that determine the memory of a dense decoder, in elements."""

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

    @property
    def query_size(self) -> int:
        return self.heads * self.head_dim

    @property
    def kv_size(self) -> int:
        return self.kv_heads * self.head_dim


def shape_from_config(config: str | Mapping[str, Any]) -> ModelShape:
    """The shape in a config.json, given as text or parsed."""
    try:
        found = parse_object(config, NAME) if isinstance(config, str) else as_object(config, NAME)
        return _shape({name: found.value(name) for name in found})
    except FormatError as error:
        raise BadModelError(str(error)) from None


def _shape(values: Mapping[str, Any]) -> ModelShape:
    family = _family(values)
    heads = _count(values, "num_attention_heads")
    hidden = _count(values, "hidden_size")
    kv_heads = _kv_heads(values, family, heads)
    bias = _flag(values, "attention_bias")
    return ModelShape(
        family=family,
        hidden=hidden,
        layers=_count(values, "num_hidden_layers"),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=_head_dim(values, family, hidden, heads),
        intermediate=_count(values, "intermediate_size"),
        vocab=_count(values, "vocab_size"),
        tied=_flag(values, "tie_word_embeddings"),
        # models/qwen2/modeling_qwen2.py Qwen2Attention.__init__: q, k, v with a bias, o without, no switch
        qkv_bias=family == "qwen2" or bias,
        # modeling_llama.py and modeling_qwen3.py: attention_bias is for q, k, v and o alike; Mistral has no bias at all
        output_bias=bias and family in ("llama", "qwen3"),
        mlp_bias=family == "llama" and _flag(values, "mlp_bias"),
        qk_norm=family == "qwen3",
        max_positions=_positions(values),
    )


def _family(values: Mapping[str, Any]) -> str:
    """The model family. UnsupportedModelError if the model is not supported."""
    kind, names = values.get("model_type"), values.get("architectures")
    named = names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""
    label = f"model_type {kind!r}" + (f" ({named})" if named else "")
    modality = next((key for key in MODALITY_KEYS if values.get(key) is not None), None)
    if modality is not None or (isinstance(kind, str) and kind.endswith(("_vl", "_omni", "vision"))):
        raise UnsupportedModelError(
            f"{label}: vision and audio models are not supported{f' ({modality})' if modality else ''}"
        )
    mixture = next((key for key in MIXTURE_KEYS if values.get(key)), None)
    if kind == "gpt_oss":
        raise UnsupportedModelError(f"{label}: gpt-oss (a quantised mixture of experts) is not supported")
    if mixture is not None:
        raise UnsupportedModelError(f"{label}: mixtures of experts are not supported ({mixture} = {values[mixture]!r})")
    if values.get("quantization_config"):
        raise UnsupportedModelError(f"{label}: quantised weights are not supported (quantization_config)")
    if not isinstance(kind, str) or not kind:
        raise BadModelError(f"{NAME}: model_type is {kind!r}; expected one of {', '.join(FAMILIES)}")
    if kind not in FAMILIES:
        raise UnsupportedModelError(f"{label}: this architecture is not supported; supported: {', '.join(FAMILIES)}")
    if named and not named.startswith(FAMILIES[kind] + "For") and named != FAMILIES[kind] + "Model":
        raise UnsupportedModelError(
            f"{label}: architecture and model_type disagree; expected {FAMILIES[kind]}ForCausalLM"
        )
    return kind


def _positions(values: Mapping[str, Any]) -> int | None:
    """The number of positions, scaled ones included, or None if the config has none."""
    if "max_position_embeddings" in values:
        _count(values, "max_position_embeddings")
    return longest_context(values)


def _count(values: Mapping[str, Any], key: str) -> int:
    return Fields(values, NAME).integer(key, at_least=1, at_most=LIMITS[key])


def _flag(values: Mapping[str, Any], key: str) -> bool:
    """A switch of the config; off if missing, as in the configuration classes of transformers 5.9.0."""
    return Fields(values, NAME).flag(key, default=False)


def _kv_heads(values: Mapping[str, Any], family: str, heads: int) -> int:
    if family == "llama" and values.get("num_key_value_heads") is None:
        return heads  # LlamaConfig: missing means one per head; the other families' defaults fit no real model
    kv_heads = _count(values, "num_key_value_heads")
    if heads % kv_heads:
        raise BadModelError(f"{NAME}: {heads} attention heads do not divide over {kv_heads} key-value heads")
    return kv_heads


def _head_dim(values: Mapping[str, Any], family: str, hidden: int, heads: int) -> int:
    if values.get("head_dim") is not None:
        return _count(values, "head_dim")
    if family == "qwen3":
        return QWEN3_HEAD_DIM
    if hidden % heads:
        raise BadModelError(f"{NAME}: hidden_size {hidden} does not divide over {heads} attention heads")
    return hidden // heads
