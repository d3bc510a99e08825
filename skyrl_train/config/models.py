"""Recognises models that cannot be trained (MOD001-MOD004, CFG005), by config.json or else by name."""

import re
from collections.abc import Mapping
from typing import Any

_GPT_OSS = re.compile(r"(?:^|/)gpt-oss-\d+b", re.IGNORECASE)
_VISION = re.compile(r"(?:^|[/_-])(?:vl|vlm|vision|llava|omni)(?:$|[-_.\d])", re.IGNORECASE)
_HUB_ID = re.compile(r"(?:[A-Za-z0-9][\w.\-]*/)?[A-Za-z0-9][\w.\-]*")
_SCALED = ("yarn", "linear", "dynamic", "longrope", "su", "llama3")


def cannot_reload(name: str, config: Mapping[str, Any] | None) -> bool:  # FIX(MOD001)
    """Whether the model is gpt-oss in MXFP4: vLLM loads its weights once and cannot update them."""
    if config is None:
        return _GPT_OSS.search(name) is not None and "bf16" not in name.lower()
    quantization = config.get("quantization_config")
    method = quantization.get("quant_method") if isinstance(quantization, Mapping) else None
    return config.get("model_type") == "gpt_oss" and method == "mxfp4"


def sees_images(name: str, config: Mapping[str, Any] | None) -> bool:  # FIX(MOD002)
    """Whether the model is a vision-language model, which AutoModelForCausalLM does not load."""
    if config is None:
        return _VISION.search(name.rpartition("/")[2]) is not None
    architectures = config.get("architectures")
    first = str(architectures[0]) if isinstance(architectures, list) and architectures else ""
    return "vision_config" in config and not first.endswith("ForCausalLM")


def is_hub_id(name: str) -> bool:  # FIX(MOD003)
    """Whether a name is a valid hub name: at most one slash, no `..` or `--`, at most 96 letters."""
    return (
        _HUB_ID.fullmatch(name) is not None
        and "--" not in name
        and ".." not in name
        and len(name) <= 96
        and name[-1] not in "-."
    )


def model_type(config: Mapping[str, Any]) -> str | None:  # FIX(MOD004)
    found = config.get("model_type")
    return found if isinstance(found, str) and found else None


def longest_context(text_config: Mapping[str, Any]) -> int | None:  # FIX(CFG005)
    """The number of positions of the model, scaled positions included."""
    found = text_config.get("max_position_embeddings")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        return None
    scaling = text_config.get("rope_scaling") or text_config.get("rope_parameters")
    if not isinstance(scaling, Mapping):
        return found
    factor, original = scaling.get("factor"), scaling.get("original_max_position_embeddings", found)
    kind = scaling.get("rope_type") or scaling.get("type")
    if not isinstance(factor, int | float) or not 0 < factor < 1_000_000:  # Python's JSON reader accepts Infinity
        return found
    if kind in _SCALED and isinstance(original, int):
        return max(found, int(original * factor))
    return found
