"""Counts the parameters of the vision tower in front of a text model, from its config.json."""

from collections.abc import Mapping
from typing import Any

from skyrl_train.contracts.typed import Fields
from skyrl_train.memory.errors import BadModelError

LARGEST = 1_048_576
MERGED = 4  # Qwen joins 2 x 2 patches
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
