"""Reads the shape of a model from its config.json.

A model is described by its kind: what its layers hold. The numbers are the file's. An architecture that is not in the table
is refused, because a formula for the wrong architecture would still give a number.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from skyrl_train.config.models import longest_context
from skyrl_train.contracts.typed import Fields, FormatError, as_object, parse_object
from skyrl_train.memory.errors import BadModelError, UnsupportedModelError
from skyrl_train.memory.shape import Experts, Latent, Linear, ModelShape, Wide
from skyrl_train.memory.vision import vision_parameters

NAME = "config.json"


class Family(NamedTuple):
    """What transformers 5.9.0 builds for a model_type (models/*/modeling_*.py)."""

    architecture: str
    qkv_bias: bool | None = False  # None: as attention_bias says
    output_bias: bool | None = False
    mlp_bias: bool = False  # as mlp_bias says
    qk_norm: bool | None = False  # None: as use_qk_norm says
    norms: int = 2
    head_dim: int | None = None  # if the file has none; None: hidden_size / heads
    tied: bool = False
    gated_query: bool = False
    sinks: bool = False


FAMILIES = {
    # Qwen2Attention.__init__: q, k, v with a bias, o without, no switch
    "qwen2": Family("Qwen2", qkv_bias=True),
    # Qwen3Config.head_dim = 128, whatever hidden_size is
    "qwen3": Family("Qwen3", qkv_bias=None, output_bias=None, qk_norm=True, head_dim=128),
    "llama": Family("Llama", qkv_bias=None, output_bias=None, mlp_bias=True),
    "mistral": Family("Mistral"),
    "mimo": Family("MiMo", qkv_bias=True),
    "phi3": Family("Phi3"),
    "seed_oss": Family("SeedOss", qkv_bias=None, output_bias=None, head_dim=128),
    "glm4": Family("Glm4", qkv_bias=None, norms=4),
    "gemma": Family("Gemma", qkv_bias=None, output_bias=None, head_dim=256, tied=True),
    "gemma2": Family("Gemma2", qkv_bias=None, output_bias=None, norms=4, head_dim=256, tied=True),
    "gemma3_text": Family("Gemma3", qkv_bias=None, output_bias=None, qk_norm=True, norms=4, head_dim=256, tied=True),
    "gemma4_text": Family("Gemma4", qk_norm=True, norms=4, head_dim=256, tied=True),
    "ministral": Family("Ministral"),
    "ministral3": Family("Ministral3"),
    "llama4_text": Family("Llama4", qkv_bias=None, output_bias=None, head_dim=128),
    "mllama_text_model": Family("Mllama"),
    "mixtral": Family("Mixtral"),
    "qwen2_moe": Family("Qwen2Moe", qkv_bias=True),
    "qwen3_moe": Family("Qwen3Moe", qkv_bias=None, output_bias=None, qk_norm=True),
    "qwen3_next": Family("Qwen3Next", qkv_bias=None, output_bias=None, qk_norm=True, head_dim=256, gated_query=True),
    "qwen3_5_text": Family("Qwen3_5", qkv_bias=None, output_bias=None, qk_norm=True, head_dim=256, gated_query=True),
    "qwen3_5_moe_text": Family(
        "Qwen3_5Moe", qkv_bias=None, output_bias=None, qk_norm=True, head_dim=256, gated_query=True
    ),
    "glm4_moe": Family("Glm4Moe", qkv_bias=None, qk_norm=None, head_dim=128),
    "glm4_moe_lite": Family("Glm4MoeLite"),
    "deepseek_v2": Family("DeepseekV2"),
    "deepseek_v3": Family("DeepseekV3"),
    "gpt_oss": Family("GptOss", qkv_bias=True, output_bias=True, head_dim=64, sinks=True),
}
INNER = {
    "qwen2_vl": "qwen2",
    "qwen2_5_vl": "qwen2",
    "qwen3_vl": "qwen3",
    "qwen3_vl_moe": "qwen3_moe",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
    "gemma3": "gemma3_text",
    "gemma4": "gemma4_text",
    "mistral3": "mistral",
    "llama4": "llama4_text",
    "mllama": "mllama_text_model",
    "glm4v": "glm4",
}
"""The text model in a vision-language model."""
GEMMA4_MORE_NORMS = 4  # three norms around the experts, and the router's scale
LATENT_KEYS = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
SPARSE = ("glm_moe_dsa", "deepseek_v32")
"""Kinds in which an indexer chooses the tokens that a query sees."""
OF_EXPERTS = ("mixtral", "gpt_oss", "qwen3_next", "deepseek_v2", "deepseek_v3", "llama4_text", "gemma4_text")
WIDTH_OF_EXPERTS = ("mixtral", "gpt_oss", "llama4_text")
"""Kinds whose experts have the width of the MLP's key."""
EXPERT_KEYS = ("num_experts", "num_local_experts", "n_routed_experts")
FULL_ATTENTION_EVERY = 4  # Qwen3NextConfig and Qwen3_5TextConfig: full_attention_interval
GEMMA_WINDOWS = {"gemma2": 2, "gemma3_text": 6, "gemma4_text": 6}  # of so many layers, one sees the whole context
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
LARGEST = 1_048_576
OTHER_MODEL = "for a rough figure pass --model with a supported model of the same size"


def shape_from_config(config: str | Mapping[str, Any]) -> ModelShape:
    """The shape in a config.json, given as text or parsed."""
    try:
        found = parse_object(config, NAME) if isinstance(config, str) else as_object(config, NAME)
        return _shape({name: found.value(name) for name in found})
    except FormatError as error:
        raise BadModelError(str(error)) from None


def _shape(whole: Mapping[str, Any]) -> ModelShape:
    kind = _kind(whole)
    values = _text_part(whole, kind)
    kind = INNER.get(kind, kind)
    family = FAMILIES[kind]
    heads, hidden = _count(values, "num_attention_heads"), _count(values, "hidden_size")
    bias = _flag(values, "attention_bias")
    latent = _latent(values, kind)
    experts = _experts(values, kind)
    layers = _count(values, "num_hidden_layers")
    windowed, window = _window(values, kind, layers)
    return ModelShape(
        family=kind,
        hidden=hidden,
        layers=layers,
        heads=heads,
        kv_heads=heads if latent is not None else _kv_heads(values, kind, heads),
        head_dim=latent.plain + latent.rotated if latent is not None else _head_dim(values, family, hidden, heads),
        intermediate=_intermediate(values, experts),
        vocab=_count(values, "vocab_size"),
        tied=_tied(whole, values, family),
        qkv_bias=bias if family.qkv_bias is None else family.qkv_bias,
        output_bias=_output_bias(values, kind, family, bias=bias),
        mlp_bias=family.mlp_bias and _flag(values, "mlp_bias"),
        qk_norm=_flag(values, "use_qk_norm") if family.qk_norm is None else family.qk_norm,
        max_positions=_positions(values),
        norms=family.norms + GEMMA4_MORE_NORMS * (kind == "gemma4_text" and experts is not None),
        gated_query=family.gated_query,
        sinks=family.sinks,
        experts=experts,
        latent=latent,
        linear=_linear(values, layers) if family.gated_query else None,
        windowed=windowed,
        window=window,
        wide=_wide(values, layers - windowed) if kind == "gemma4_text" else None,
        vision=vision_parameters(whole, hidden),
    )


def _wide(values: Mapping[str, Any], layers: int) -> Wide:
    """Gemma4TextAttention: the heads of layers without a window."""
    if _or(values, "hidden_size_per_layer_input", 256):  # 256 is Gemma4TextConfig's default
        raise UnsupportedModelError(
            f"model_type 'gemma4_text': embeddings of each layer and shared keys (E2B, E4B) are not supported; {OTHER_MODEL}"
        )
    if _or(values, "num_kv_shared_layers", 0):
        raise UnsupportedModelError(f"model_type 'gemma4_text': num_kv_shared_layers is not supported; {OTHER_MODEL}")
    shared = _flag(values, "attention_k_eq_v")
    kv_heads = _count(values, "num_global_key_value_heads" if shared else "num_key_value_heads")
    return Wide(layers, kv_heads, _or(values, "global_head_dim", 512), shared)


def _kind(values: Mapping[str, Any]) -> str:
    """The model_type. UnsupportedModelError if it is not in the table."""
    kind, names = values.get("model_type"), values.get("architectures")
    named = names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""
    label = f"model_type {kind!r}" + (f" ({named})" if named else "")
    if not isinstance(kind, str) or not kind:
        raise BadModelError(f"{NAME}: model_type is {kind!r}; expected one of {', '.join((*FAMILIES, *INNER))}")
    quantised = values.get("quantization_config")
    if quantised:
        raise UnsupportedModelError(
            f"{label}: quantised weights are not supported (quantization_config); pass --model with the bf16 model"
        )
    if kind in SPARSE:
        raise UnsupportedModelError(
            f"{label}: sparse attention is not supported, since its kernels decide on the activations; {OTHER_MODEL}"
        )
    if kind not in FAMILIES and kind not in INNER:
        raise UnsupportedModelError(f"{label}: this architecture is not supported; {OTHER_MODEL}")
    family = FAMILIES.get(kind)
    if named and family is not None and not _builds(named, family.architecture):
        raise UnsupportedModelError(
            f"{label}: architecture and model_type disagree; expected {family.architecture}ForCausalLM"
        )
    return kind


def _builds(architecture: str, name: str) -> bool:
    rest = architecture.removeprefix(name)
    return architecture.startswith(name) and (rest.startswith("For") or rest in ("Model", "TextModel"))


def _text_part(whole: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """The text model's own values. Older vision-language models have them at the top."""
    inner = whole.get("text_config")
    if kind not in INNER or not isinstance(inner, Mapping):
        return whole
    return inner


def _tied(whole: Mapping[str, Any], values: Mapping[str, Any], family: Family) -> bool:
    """The setting of the whole model comes first (modeling_utils.py tie_weights)."""
    for place in (whole, values):
        if place.get("tie_word_embeddings") is not None:
            return _flag(place, "tie_word_embeddings")
    return family.tied


def _output_bias(values: Mapping[str, Any], kind: str, family: Family, *, bias: bool) -> bool:
    if kind == "seed_oss":
        return _flag(values, "attention_out_bias")
    return bias if family.output_bias is None else family.output_bias


def _positions(values: Mapping[str, Any]) -> int | None:
    """The number of positions, scaled ones included, or None if the config has none."""
    if "max_position_embeddings" in values:
        _count(values, "max_position_embeddings")
    return longest_context(values)


def _count(values: Mapping[str, Any], key: str) -> int:
    return Fields(values, NAME).integer(key, at_least=1, at_most=LIMITS.get(key, LARGEST))


def _or(values: Mapping[str, Any], key: str, default: int) -> int:
    if values.get(key) is None:
        return default
    return Fields(values, NAME).integer(key, at_least=0, at_most=LARGEST)


def _flag(values: Mapping[str, Any], key: str) -> bool:
    """A switch of the config; off if missing, as in the configuration classes of transformers 5.9.0."""
    return Fields(values, NAME).flag(key, default=False)


def _kv_heads(values: Mapping[str, Any], kind: str, heads: int) -> int:
    if kind in ("llama", "phi3") and values.get("num_key_value_heads") is None:
        return heads  # missing means one per head; the other families' defaults fit no real model
    kv_heads = _count(values, "num_key_value_heads")
    if heads % kv_heads:
        raise BadModelError(f"{NAME}: {heads} attention heads do not divide over {kv_heads} key-value heads")
    return kv_heads


def _head_dim(values: Mapping[str, Any], family: Family, hidden: int, heads: int) -> int:
    if values.get("head_dim") is not None:
        return _count(values, "head_dim")
    if family.head_dim is not None:
        return family.head_dim
    if hidden % heads:
        raise BadModelError(f"{NAME}: hidden_size {hidden} does not divide over {heads} attention heads")
    return hidden // heads


def _intermediate(values: Mapping[str, Any], experts: Experts | None) -> int:
    """The width of the MLP. A model of experts alone has none."""
    if experts is not None and not experts.dense_layers:
        return experts.intermediate
    if values.get("intermediate_size_mlp") is not None:
        return _count(values, "intermediate_size_mlp")
    return _count(values, "intermediate_size")


def _latent(values: Mapping[str, Any], kind: str) -> Latent | None:
    if not kind.startswith("deepseek_") and kind != "glm4_moe_lite":
        return None
    rank, plain, rotated, value = (_count(values, key) for key in LATENT_KEYS)
    query = values.get("q_lora_rank")
    return Latent(None if query is None else _count(values, "q_lora_rank"), rank, plain, rotated, value)


def _experts(values: Mapping[str, Any], kind: str) -> Experts | None:
    key = next((name for name in EXPERT_KEYS if values.get(name)), None)
    if key is None:
        return None
    if "moe" not in kind and kind not in OF_EXPERTS:
        raise UnsupportedModelError(f"model_type {kind!r} has no experts, but {key} = {values[key]!r}")
    width = _count(values, "intermediate_size" if kind in WIDTH_OF_EXPERTS else "moe_intermediate_size")
    shared = _or(values, "shared_expert_intermediate_size", _or(values, "n_shared_experts", 0) * width)
    if kind in ("llama4_text", "gemma4_text"):  # Llama4TextMoe.shared_expert; Gemma 4 keeps the MLP beside its experts
        shared = _count(values, "intermediate_size")
    return Experts(
        number=_count(values, key),
        per_token=_count(values, "top_k_experts" if kind == "gemma4_text" else "num_experts_per_tok"),
        intermediate=width,
        shared=shared,
        shared_gate=bool(shared) and kind.startswith("qwen"),
        biases=kind == "gpt_oss",
        scales=kind == "gemma4_text",
        dense_layers=_dense_layers(values, kind),
    )


def _dense_layers(values: Mapping[str, Any], kind: str) -> int:
    if kind == "llama4_text":  # Llama4TextConfig: moe_layers, else every interleave_moe_layer_step-th
        layers, experts = _count(values, "num_hidden_layers"), values.get("moe_layers")
        every = _or(values, "interleave_moe_layer_step", 1) or 1
        return layers - (len(experts) if isinstance(experts, list) else layers // every)
    types = values.get("mlp_layer_types")
    if isinstance(types, list):
        return types.count("dense")
    only = values.get("mlp_only_layers")
    if isinstance(only, list) and only:
        return len(only)
    return _or(values, "first_k_dense_replace", 1 if kind == "glm4_moe_lite" else 0)


def _linear(values: Mapping[str, Any], layers: int) -> Linear:
    kinds = values.get("layer_types")
    every = _or(values, "full_attention_interval", FULL_ATTENTION_EVERY) or FULL_ATTENTION_EVERY
    full = kinds.count("full_attention") if isinstance(kinds, list) else layers // every
    return Linear(
        layers=layers - full,
        key_heads=_or(values, "linear_num_key_heads", 16),
        value_heads=_or(values, "linear_num_value_heads", 32),
        key_dim=_or(values, "linear_key_head_dim", 128),
        value_dim=_or(values, "linear_value_head_dim", 128),
        kernel=_or(values, "linear_conv_kernel_dim", 4),
    )


def _window(values: Mapping[str, Any], kind: str, layers: int) -> tuple[int, int | None]:
    """The number of layers with a window, and the window."""
    window = values.get("sliding_window")
    if kind not in (*GEMMA_WINDOWS, "gpt_oss") or not isinstance(window, int):
        return 0, None
    kinds = values.get("layer_types")
    if isinstance(kinds, list):
        return kinds.count("sliding_attention"), window
    every = _or(values, "sliding_window_pattern", GEMMA_WINDOWS.get(kind, 2)) or 1
    return layers - layers // every, window
