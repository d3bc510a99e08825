"""Counts the parameters of the vision tower in front of a text model, from its config.json."""

from collections.abc import Mapping
from typing import Any

from skyrl_train.contracts.typed import Fields
from skyrl_train.memory.errors import BadModelError

LARGEST = 1_048_576
MERGED = 4  # Qwen joins 2 x 2 patches
MLLAMA_RATIOS, MLLAMA_CROSSED = 8, 8  # MllamaVisionConfig and MllamaTextConfig without a list
SIGLIP_POSITIONS = 4096  # (896 / 14)²


def vision_parameters(whole: Mapping[str, Any], hidden: int) -> int:
    """Parameters of tower and merger; 0 for a text model."""
    values = whole.get("vision_config")
    if not isinstance(values, Mapping) or not values:
        return 0
    kind = whole.get("model_type")
    if kind == "qwen2_vl":
        return _qwen2_vl(values)
    if kind == "qwen2_5_vl":
        return _qwen2_5_vl(values)
    if kind in ("qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"):
        return _qwen3_vl(values)
    if kind == "mistral3":
        return _pixtral(values, hidden, _size(whole, "spatial_merge_size", 2))
    if kind == "gemma4":
        return _gemma4(values, hidden)
    if kind == "llama4":
        return _llama4(values, hidden)
    if kind == "mllama":
        return _mllama(values, whole, hidden)
    return _plain(values, hidden)


def _size(values: Mapping[str, Any], key: str, default: int | None = None) -> int:
    if values.get(key) is None and default is not None:
        return default
    return Fields(values, "config.json: vision_config").integer(key, at_least=1, at_most=LARGEST)


def _attention(size: int) -> int:
    return 4 * size * size + 4 * size


def _merger(size: int, out: int) -> int:
    joined = MERGED * size
    return joined * joined + joined + joined * out + out


def _patches(values: Mapping[str, Any], size: int, patch: int) -> int:
    channels = _size(values, "in_channels", _size(values, "in_chans", 3))
    return channels * _size(values, "temporal_patch_size", 2) * _size(values, "patch_size", patch) ** 2 * size


def _qwen2_vl(values: Mapping[str, Any]) -> int:
    """Qwen2VisionTransformerPretrainedModel: its hidden_size is the text model's."""
    size = _size(values, "embed_dim", 1280)
    wide = size * _size(values, "mlp_ratio", 4)
    block = _attention(size) + 2 * size * wide + wide + size + 4 * size
    return (
        _size(values, "depth", 32) * block
        + _patches(values, size, 14)
        + 2 * size
        + _merger(size, _size(values, "hidden_size", 3584))
    )


def _qwen2_5_vl(values: Mapping[str, Any]) -> int:
    size, wide = _size(values, "hidden_size", 1280), _size(values, "intermediate_size", 3420)
    block = _attention(size) + 3 * size * wide + 2 * wide + size + 2 * size
    out = _size(values, "out_hidden_size", 3584)
    return _size(values, "depth", 32) * block + _patches(values, size, 14) + size + _merger(size, out)


def _qwen3_vl(values: Mapping[str, Any]) -> int:
    size, wide = _size(values, "hidden_size", 1152), _size(values, "intermediate_size", 4304)
    block = _attention(size) + 2 * size * wide + wide + size + 4 * size
    merger = _merger(size, _size(values, "out_hidden_size", 3584))
    positions = _size(values, "num_position_embeddings", 2304) * size
    deep = values.get("deepstack_visual_indexes")
    deeper = (len(deep) if isinstance(deep, list) else 0) * (merger + 2 * MERGED * size)
    return (
        _size(values, "depth", 27) * block + _patches(values, size, 16) + size + positions + 2 * size + merger + deeper
    )


def _plain(values: Mapping[str, Any], hidden: int) -> int:
    """A tower of the SigLIP kind with one map to the text model."""
    if values.get("hidden_size") is None or values.get("num_hidden_layers") is None:
        raise BadModelError("config.json: vision_config has no hidden_size or num_hidden_layers")
    size, wide = _size(values, "hidden_size"), _size(values, "intermediate_size")
    block = _attention(size) + 2 * size * wide + wide + size + 4 * size
    patches = 3 * _size(values, "patch_size", 14) ** 2 * size + size
    return _size(values, "num_hidden_layers") * block + patches + SIGLIP_POSITIONS * size + 3 * size + size * hidden


def _pixtral(values: Mapping[str, Any], hidden: int, merged: int) -> int:
    """PixtralVisionModel and Mistral3MultiModalProjector: neither has a bias."""
    size, wide = _size(values, "hidden_size", 1024), _size(values, "intermediate_size", 4096)
    block = 4 * size * size + 3 * size * wide + 2 * size
    patches = 3 * _size(values, "patch_size", 14) ** 2 * size + size
    projector = size + merged**2 * size * size + size * hidden + hidden * hidden
    return _size(values, "num_hidden_layers", 24) * block + patches + projector


def _gemma4(values: Mapping[str, Any], hidden: int) -> int:
    """Gemma4VisionModel, without a bias, and one map to the text model."""
    size, wide, heads = (_size(values, key) for key in ("hidden_size", "intermediate_size", "num_attention_heads"))
    head = _size(values, "head_dim", size // heads)
    maps = 2 * (heads + _size(values, "num_key_value_heads", heads)) * head
    block = size * maps + 2 * head + 3 * size * wide + 4 * size
    patches = (
        3 * _size(values, "patch_size", 16) ** 2 * size + 2 * _size(values, "position_embedding_size", 10_240) * size
    )
    return _size(values, "num_hidden_layers") * block + patches + size * hidden


def _llama4(values: Mapping[str, Any], hidden: int) -> int:
    """Llama4VisionModel with its adapter, and one map to the text model."""
    size, wide = _size(values, "hidden_size"), _size(values, "intermediate_size", 5632)
    patch, out = _size(values, "patch_size", 14), _size(values, "projector_output_dim", 4096)
    block = _attention(size) + 2 * size * wide + wide + size + 4 * size
    positions = ((_size(values, "image_size", 448) // patch) ** 2 + 1) * size
    adapter = wide * _size(values, "projector_input_dim", 4096) + out * out
    first = 3 * patch**2 * size + size + positions + 4 * size
    return (
        _size(values, "num_hidden_layers", 34) * block
        + first
        + adapter
        + _size(values, "vision_output_dim", 7680) * hidden
    )


def _mllama(values: Mapping[str, Any], whole: Mapping[str, Any], hidden: int) -> int:
    """MllamaVisionModel and its projector, and what cross-attention has beside a layer's maps: two norms of a head and two gates.

    The text model also embeds eight tokens that the head does not have.
    """
    size, wide = _size(values, "hidden_size", 1280), _size(values, "intermediate_size", 5120)
    patch, tiles = _size(values, "patch_size", 14), _size(values, "max_num_tiles", 4)
    ratios = values.get("supported_aspect_ratios")
    kinds = 1 + (len(ratios) if isinstance(ratios, list) else MLLAMA_RATIOS)
    patches = (_size(values, "image_size", 448) // patch) ** 2 + 1
    block = 4 * size * size + 2 * size * wide + wide + size + 4 * size
    deeper = _size(values, "num_global_layers", 8)
    blocks = (_size(values, "num_hidden_layers", 32) + deeper) * block + 2 * deeper
    first = 3 * patch**2 * size + size + 4 * size
    positions = 1 + patches * size + kinds * tiles * patches * size + 2 * (1 + kinds * tiles * size)
    text = whole.get("text_config")
    inner = text if isinstance(text, Mapping) else whole
    crossed = inner.get("cross_attention_layers")
    head = hidden // _size(inner, "num_attention_heads", 32)
    cross = (len(crossed) if isinstance(crossed, list) else MLLAMA_CROSSED) * (2 * head + 2) + 8 * hidden
    return blocks + first + positions + cross + _size(values, "vision_output_dim", 7680) * hidden + hidden
