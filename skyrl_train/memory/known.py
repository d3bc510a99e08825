"""Shapes of public models by hub name, for a machine without the model's files.

The numbers are from each model's published config.json. Other names have no shape; none is guessed.
"""

import re
from collections.abc import Mapping
from typing import Any

_QWEN = {"max_position_embeddings": 32_768, "vocab_size": 151_936, "tie_word_embeddings": True}
_BIG_QWEN = {**_QWEN, "vocab_size": 152_064, "tie_word_embeddings": False}
_QWEN3 = {"max_position_embeddings": 40_960, "vocab_size": 151_936, "head_dim": 128, "tie_word_embeddings": True}
_LLAMA = {"max_position_embeddings": 131_072, "vocab_size": 128_256, "tie_word_embeddings": True}
_MISTRAL = {"max_position_embeddings": 32_768, "head_dim": 128, "tie_word_embeddings": False}


def _shape(hidden: int, layers: int, heads: int, kv_heads: int, intermediate: int) -> dict[str, Any]:
    return {
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": intermediate,
    }


_QWEN2_SHAPES = {
    "0.5B": _QWEN | _shape(896, 24, 14, 2, 4864),
    "1.5B": _QWEN | _shape(1536, 28, 12, 2, 8960),
    "3B": _QWEN | _shape(2048, 36, 16, 2, 11008),
    "7B": _BIG_QWEN | _shape(3584, 28, 28, 4, 18944),
    "14B": _BIG_QWEN | _shape(5120, 48, 40, 8, 13824),
    "32B": _BIG_QWEN | _shape(5120, 64, 40, 8, 27648),
    "72B": _BIG_QWEN | _shape(8192, 80, 64, 8, 29568),
}
_QWEN3_SHAPES = {
    "0.6B": _QWEN3 | _shape(1024, 28, 16, 8, 3072),
    "1.7B": _QWEN3 | _shape(2048, 28, 16, 8, 6144),
    "4B": _QWEN3 | _shape(2560, 36, 32, 8, 9728),
    "8B": {**_QWEN3, "tie_word_embeddings": False} | _shape(4096, 36, 32, 8, 12288),
    "14B": {**_QWEN3, "tie_word_embeddings": False} | _shape(5120, 40, 40, 8, 17408),
    "32B": {**_QWEN3, "tie_word_embeddings": False} | _shape(5120, 64, 64, 8, 25600),
}
_LLAMA_SHAPES = {
    "3.2-1B": {**_LLAMA, "head_dim": 64} | _shape(2048, 16, 32, 8, 8192),
    "3.2-3B": {**_LLAMA, "head_dim": 128} | _shape(3072, 28, 24, 8, 8192),
    "3.1-8B": {**_LLAMA, "tie_word_embeddings": False} | _shape(4096, 32, 32, 8, 14336),
    "3.1-70B": {**_LLAMA, "tie_word_embeddings": False} | _shape(8192, 80, 64, 8, 28672),
    "3.3-70B": {**_LLAMA, "tie_word_embeddings": False} | _shape(8192, 80, 64, 8, 28672),
}
_MISTRAL_SHAPES = {"v0.3": {**_MISTRAL, "vocab_size": 32_768} | _shape(4096, 32, 32, 8, 14336)}

_FAMILIES: tuple[tuple[str, re.Pattern[str], Mapping[str, Mapping[str, Any]]], ...] = (
    ("qwen2", re.compile(r"Qwen/Qwen2\.5-(?:Coder-)?(?P<size>[\d.]+B)(?:-Instruct)?"), _QWEN2_SHAPES),
    ("qwen3", re.compile(r"Qwen/Qwen3-(?P<size>[\d.]+B)(?:-Base)?"), _QWEN3_SHAPES),
    ("llama", re.compile(r"(?:meta-llama|unsloth)/Llama-(?P<size>3\.\d-\d+B)(?:-Instruct)?"), _LLAMA_SHAPES),
    ("mistral", re.compile(r"mistralai/Mistral-7B(?:-Instruct)?-(?P<size>v0\.3)"), _MISTRAL_SHAPES),
)
_ARCHITECTURES = {"qwen2": "Qwen2", "qwen3": "Qwen3", "llama": "Llama", "mistral": "Mistral"}


def known_config(name: str) -> Mapping[str, Any] | None:
    """The shape in the config.json of this hub name, or None if the name is unknown."""
    for family, pattern, shapes in _FAMILIES:
        found = pattern.fullmatch(name)
        shape = shapes.get(found["size"]) if found else None
        if shape is not None:
            return {"model_type": family, "architectures": [f"{_ARCHITECTURES[family]}ForCausalLM"], **shape}
    return None
