"""Shapes of public models, from each model's published config.json. Comments name where that of a newer family can be read.

A test holds the numbers of parameters against transformers' own models, and those against the published totals. Keys are
the sizes as names have them.
"""

from collections.abc import Mapping
from typing import Any

Config = Mapping[str, Any]


def _dense(hidden: int, layers: int, heads: int, kv_heads: int, intermediate: int) -> dict[str, Any]:
    return {
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": intermediate,
    }


def _experts(key: str, count: int, per_token: int, intermediate: int, **more: Any) -> dict[str, Any]:
    return {key: count, "num_experts_per_tok": per_token, "moe_intermediate_size": intermediate, **more}


def _qwen(*, tied: bool, vocab: int = 151_936, positions: int = 32_768) -> dict[str, Any]:
    return {"max_position_embeddings": positions, "vocab_size": vocab, "tie_word_embeddings": tied}


_BIG_QWEN = _qwen(tied=False, vocab=152_064)
_QWEN3 = {"max_position_embeddings": 40_960, "vocab_size": 151_936, "head_dim": 128}
_QWEN35 = {"max_position_embeddings": 262_144, "vocab_size": 248_320, "head_dim": 256}
_LLAMA3 = {"max_position_embeddings": 131_072, "vocab_size": 128_256}
_OLD_LLAMA = {"max_position_embeddings": 4_096, "vocab_size": 32_000}
_GEMMA3 = {"vocab_size": 262_144, "sliding_window": 1024, "head_dim": 256, "max_position_embeddings": 131_072}
_LATENT = {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
_UNTIED, _TIED = {"tie_word_embeddings": False}, {"tie_word_embeddings": True}
_LINEAR = {"linear_num_key_heads": 16, "linear_key_head_dim": 128, "linear_value_head_dim": 128}

QWEN2 = {
    "0.5B": _qwen(tied=True) | _dense(896, 24, 14, 2, 4864),
    "1.5B": _qwen(tied=True) | _dense(1536, 28, 12, 2, 8960),
    "3B": _qwen(tied=True) | _dense(2048, 36, 16, 2, 11008),
    "7B": _BIG_QWEN | _dense(3584, 28, 28, 4, 18944),
    "14B": _BIG_QWEN | _dense(5120, 48, 40, 8, 13824),
    "32B": _BIG_QWEN | _dense(5120, 64, 40, 8, 27648),
    "72B": _BIG_QWEN | _dense(8192, 80, 64, 8, 29568),
}
R1_DISTILL_QWEN = {**QWEN2, "1.5B": {**QWEN2["1.5B"], "tie_word_embeddings": False}}
QWEN15_MOE = {
    "A2.7B": _qwen(tied=False)
    | _dense(2048, 24, 16, 16, 5632)
    | _experts("num_experts", 60, 4, 1408, shared_expert_intermediate_size=5632)
}
QWEN3 = {
    "0.6B": {**_QWEN3, **_TIED} | _dense(1024, 28, 16, 8, 3072),
    "1.7B": {**_QWEN3, **_TIED} | _dense(2048, 28, 16, 8, 6144),
    "4B": {**_QWEN3, **_TIED} | _dense(2560, 36, 32, 8, 9728),
    "8B": {**_QWEN3, **_UNTIED} | _dense(4096, 36, 32, 8, 12288),
    "14B": {**_QWEN3, **_UNTIED} | _dense(5120, 40, 40, 8, 17408),
    "32B": {**_QWEN3, **_UNTIED} | _dense(5120, 64, 64, 8, 25600),
}
QWEN3_MOE = {
    "30B-A3B": {**_QWEN3, **_UNTIED} | _dense(2048, 48, 32, 4, 6144) | _experts("num_experts", 128, 8, 768),
    "235B-A22B": {**_QWEN3, **_UNTIED} | _dense(4096, 94, 64, 4, 12288) | _experts("num_experts", 128, 8, 1536),
    "480B-A35B": {**_QWEN3, **_UNTIED} | _dense(6144, 62, 96, 8, 8192) | _experts("num_experts", 160, 8, 2560),
}
QWEN3_MOE_BY_TOTAL = {"30B": QWEN3_MOE["30B-A3B"], "235B": QWEN3_MOE["235B-A22B"]}
"""No dense Qwen3 has these sizes."""
QWEN3_NEXT = {
    "80B-A3B": {**_QWEN35, "vocab_size": 151_936, **_UNTIED, **_LINEAR, "linear_num_value_heads": 32}
    | _dense(2048, 48, 16, 2, 5120)
    | _experts("num_experts", 512, 10, 512, shared_expert_intermediate_size=512)
}
QWEN35 = {
    "0.8B": {**_QWEN35, **_LINEAR, **_TIED, "linear_num_value_heads": 16} | _dense(1024, 24, 8, 2, 3584),
    "2B": {**_QWEN35, **_LINEAR, **_TIED, "linear_num_value_heads": 16} | _dense(2048, 24, 8, 2, 6144),
    "4B": {**_QWEN35, **_LINEAR, **_TIED, "linear_num_value_heads": 32} | _dense(2560, 32, 16, 4, 9216),
    "9B": {**_QWEN35, **_LINEAR, **_UNTIED, "linear_num_value_heads": 32} | _dense(4096, 32, 16, 4, 12288),
    "27B": {**_QWEN35, **_LINEAR, **_UNTIED, "linear_num_value_heads": 48} | _dense(5120, 64, 24, 4, 17408),
}


def _qwen35_moe(sizes: dict[str, Any], values: int, count: int, per_token: int, width: int) -> dict[str, Any]:
    experts = _experts("num_experts", count, per_token, width, shared_expert_intermediate_size=width)
    return {**_QWEN35, **_LINEAR, **_UNTIED, "linear_num_value_heads": values, **sizes, **experts}


QWEN35_MOE = {
    "35B-A3B": _qwen35_moe(_dense(2048, 40, 16, 2, 512), 32, 256, 8, 512),
    "122B-A10B": _qwen35_moe(_dense(3072, 48, 32, 2, 1024), 64, 256, 8, 1024),
    "397B-A17B": _qwen35_moe(_dense(4096, 60, 32, 2, 1024), 64, 512, 10, 1024),
}
LLAMA = {
    "3-8B": {**_LLAMA3, **_UNTIED, "max_position_embeddings": 8_192} | _dense(4096, 32, 32, 8, 14336),
    "3-70B": {**_LLAMA3, **_UNTIED, "max_position_embeddings": 8_192} | _dense(8192, 80, 64, 8, 28672),
    "3.1-8B": {**_LLAMA3, **_UNTIED} | _dense(4096, 32, 32, 8, 14336),
    "3.1-70B": {**_LLAMA3, **_UNTIED} | _dense(8192, 80, 64, 8, 28672),
    "3.1-405B": {**_LLAMA3, **_UNTIED} | _dense(16384, 126, 128, 8, 53248),
    "3.2-1B": {**_LLAMA3, **_TIED, "head_dim": 64} | _dense(2048, 16, 32, 8, 8192),
    "3.2-3B": {**_LLAMA3, **_TIED, "head_dim": 128} | _dense(3072, 28, 24, 8, 8192),
    "3.3-70B": {**_LLAMA3, **_UNTIED} | _dense(8192, 80, 64, 8, 28672),
    "2-7B": {**_OLD_LLAMA, **_UNTIED} | _dense(4096, 32, 32, 32, 11008),
    "2-13B": {**_OLD_LLAMA, **_UNTIED} | _dense(5120, 40, 40, 40, 13824),
}
R1_DISTILL_LLAMA = {"8B": LLAMA["3.1-8B"], "70B": LLAMA["3.3-70B"]}
DEEPSEEK_LLM = {
    "7B": {**_OLD_LLAMA, **_UNTIED, "vocab_size": 102_400} | _dense(4096, 30, 32, 32, 11008),
    "67B": {**_OLD_LLAMA, **_UNTIED, "vocab_size": 102_400} | _dense(8192, 95, 64, 8, 22016),
}
DEEPSEEK_CODER = {
    "1.3B": {**_UNTIED, "vocab_size": 32_256, "max_position_embeddings": 16_384} | _dense(2048, 24, 16, 16, 5504),
    "6.7B": {**_UNTIED, "vocab_size": 32_256, "max_position_embeddings": 16_384} | _dense(4096, 32, 32, 32, 11008),
    "33B": {**_UNTIED, "vocab_size": 32_256, "max_position_embeddings": 16_384} | _dense(7168, 62, 56, 8, 19200),
}
SMOLLM2 = {
    "135M": {**_TIED, "vocab_size": 49_152, "max_position_embeddings": 8_192} | _dense(576, 30, 9, 3, 1536),
    "360M": {**_TIED, "vocab_size": 49_152, "max_position_embeddings": 8_192} | _dense(960, 32, 15, 5, 2560),
    "1.7B": {**_TIED, "vocab_size": 49_152, "max_position_embeddings": 8_192} | _dense(2048, 24, 32, 32, 8192),
}
MISTRAL_7B = {**_UNTIED, "head_dim": 128, "max_position_embeddings": 32_768, **_dense(4096, 32, 32, 8, 14336)}
MISTRAL = {
    "7B-v0.1": {**MISTRAL_7B, "vocab_size": 32_000},
    "7B-v0.2": {**MISTRAL_7B, "vocab_size": 32_000},
    "7B-v0.3": {**MISTRAL_7B, "vocab_size": 32_768},
    "Nemo": {**_UNTIED, "head_dim": 128, "vocab_size": 131_072, "max_position_embeddings": 131_072}
    | _dense(5120, 40, 32, 8, 14336),
    "Small-24B": {**_UNTIED, "head_dim": 128, "vocab_size": 131_072, "max_position_embeddings": 32_768}
    | _dense(5120, 40, 32, 8, 32768),
}
DEVSTRAL = {"small": MISTRAL["Small-24B"]}
# Ministral3Config's defaults (8B) and Mistral3Config's (the tower, and Devstral Small 2)
_PIXTRAL = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "patch_size": 14}
_MINISTRAL = {"head_dim": 128, "vocab_size": 131_072, "max_position_embeddings": 262_144}
MINISTRAL = {
    "8B": {**_UNTIED, "head_dim": 128, "vocab_size": 131_072, "max_position_embeddings": 32_768}
    | _dense(4096, 36, 32, 8, 12288)
}


def _ministral3(text: Config) -> dict[str, Any]:
    return {
        "text_config": {**_MINISTRAL, **text, "model_type": "ministral3"},
        "vision_config": {**_PIXTRAL, "model_type": "pixtral"},
    }


MINISTRAL3 = {
    "3B": _ministral3(_TIED | _dense(3072, 26, 32, 8, 9216)),
    "8B": _ministral3(_UNTIED | _dense(4096, 34, 32, 8, 14336)),
    "14B": _ministral3(_UNTIED | _dense(5120, 40, 32, 8, 16384)),
}
DEVSTRAL2 = {"small-2-24b": _ministral3(_UNTIED | _dense(5120, 40, 32, 8, 32768))}
MIXTRAL = {
    "8x7B": {**_UNTIED, "vocab_size": 32_000, "max_position_embeddings": 32_768}
    | _dense(4096, 32, 32, 8, 14336)
    | {"num_local_experts": 8, "num_experts_per_tok": 2},
    "8x22B": {**_UNTIED, "vocab_size": 32_768, "max_position_embeddings": 65_536}
    | _dense(6144, 56, 48, 8, 16384)
    | {"num_local_experts": 8, "num_experts_per_tok": 2},
}
GEMMA = {
    "2B": {**_TIED, "vocab_size": 256_000, "head_dim": 256, "max_position_embeddings": 8_192}
    | _dense(2048, 18, 8, 1, 16384),
    "7B": {**_TIED, "vocab_size": 256_000, "head_dim": 256, "max_position_embeddings": 8_192}
    | _dense(3072, 28, 16, 16, 24576),
}
_GEMMA2 = {**_TIED, "vocab_size": 256_000, "sliding_window": 4096, "max_position_embeddings": 8_192}
GEMMA2 = {
    "2B": {**_GEMMA2, "head_dim": 256} | _dense(2304, 26, 8, 4, 9216),
    "9B": {**_GEMMA2, "head_dim": 256} | _dense(3584, 42, 16, 8, 14336),
    "27B": {**_GEMMA2, "head_dim": 128} | _dense(4608, 46, 32, 16, 36864),
}
_SIGLIP = {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "patch_size": 14, "image_size": 896}
_SIGLIP["vision_use_head"] = False
_GEMMA3_VL = {**_GEMMA3, **_TIED, "vocab_size": 262_208}
GEMMA3 = {
    "1B": {**_GEMMA3, **_TIED, "sliding_window": 512, "max_position_embeddings": 32_768} | _dense(1152, 26, 4, 1, 6912),
}
GEMMA3_VL = {
    "4B": {"text_config": _GEMMA3_VL | _dense(2560, 34, 8, 4, 10240), "vision_config": _SIGLIP},
    "12B": {"text_config": _GEMMA3_VL | _dense(3840, 48, 16, 8, 15360), "vision_config": _SIGLIP},
    "27B": {"text_config": {**_GEMMA3_VL, "head_dim": 128} | _dense(5376, 62, 32, 16, 21504), "vision_config": _SIGLIP},
}
# maxtext (AI-Hypercomputer) configs/models/gemma4-31b.yml and gemma4-26b.yml; Gemma4TextConfig
_GEMMA4 = {
    **_TIED,
    "vocab_size": 262_144,
    "head_dim": 256,
    "global_head_dim": 512,
    "sliding_window": 1024,
    "attention_k_eq_v": True,
    "hidden_size_per_layer_input": 0,
    "max_position_embeddings": 262_144,
}
_GEMMA4_TOWER = {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27, "head_dim": 72}
_GEMMA4_TOWER |= {"num_attention_heads": 16, "num_key_value_heads": 16}
_GEMMA4_EXPERTS = {"enable_moe_block": True, "num_experts": 128, "top_k_experts": 8, "moe_intermediate_size": 704}
GEMMA4_E = {"text_config": {**_GEMMA4, "hidden_size_per_layer_input": 256, **_dense(2560, 42, 8, 2, 10240)}}
"""E2B and E4B, which are refused with the reason, as the models of `SPARSE` are."""
SPARSE: Config = {}
GEMMA4 = {
    "31B": {
        "text_config": {**_GEMMA4, "num_global_key_value_heads": 4, **_dense(5376, 60, 32, 16, 21504)},
        "vision_config": _GEMMA4_TOWER,
    },
    "26B-A4B": {
        "text_config": {**_GEMMA4, "num_global_key_value_heads": 2, **_GEMMA4_EXPERTS, **_dense(2816, 30, 16, 8, 2112)},
        "vision_config": _GEMMA4_TOWER,
    },
}
PHI3 = {
    "3-mini": {**_UNTIED, "vocab_size": 32_064, "max_position_embeddings": 131_072} | _dense(3072, 32, 32, 32, 8192),
    "3-medium": {**_UNTIED, "vocab_size": 32_064, "max_position_embeddings": 131_072} | _dense(5120, 40, 40, 10, 17920),
    "4": {**_UNTIED, "vocab_size": 100_352, "max_position_embeddings": 16_384} | _dense(5120, 40, 40, 10, 17920),
    "4-mini": {**_TIED, "vocab_size": 200_064, "max_position_embeddings": 131_072} | _dense(3072, 32, 24, 8, 8192),
}
GLM4 = {
    "9B": {**_UNTIED, "vocab_size": 151_552, "head_dim": 128, "attention_bias": True, "max_position_embeddings": 32_768}
    | _dense(4096, 40, 32, 2, 13696),
    "32B": {
        **_UNTIED,
        "vocab_size": 151_552,
        "head_dim": 128,
        "attention_bias": False,
        "max_position_embeddings": 32_768,
    }
    | _dense(6144, 61, 48, 8, 23040),
}
_GLM45 = {
    **_UNTIED,
    "vocab_size": 151_552,
    "head_dim": 128,
    "attention_bias": True,
    "max_position_embeddings": 131_072,
}
GLM45 = {
    "Air": _GLM45
    | _dense(4096, 46, 96, 8, 10944)
    | _experts("n_routed_experts", 128, 8, 1408, n_shared_experts=1, first_k_dense_replace=1),
    "": {**_GLM45, "use_qk_norm": True}
    | _dense(5120, 92, 96, 8, 12288)
    | _experts("n_routed_experts", 160, 8, 1536, n_shared_experts=1, first_k_dense_replace=3),
}
GLM47_FLASH = {**_UNTIED, "vocab_size": 154_880, "max_position_embeddings": 202_752, "q_lora_rank": 768} | {
    **_LATENT,
    "qk_nope_head_dim": 192,
    "v_head_dim": 256,
    **_dense(2048, 47, 20, 20, 10240),
    **_experts("n_routed_experts", 64, 4, 1536, n_shared_experts=1, first_k_dense_replace=1),
}
# the config.json in deepseek-ai/DeepSeek-V2-Lite; V2's attention without a compressed query
DEEPSEEK_V2_LITE = {**_UNTIED, "vocab_size": 102_400, "max_position_embeddings": 163_840, "q_lora_rank": None} | {
    **_LATENT,
    **_dense(2048, 27, 16, 16, 10944),
    **_experts("n_routed_experts", 64, 6, 1408, n_shared_experts=2, first_k_dense_replace=1),
}
DEEPSEEK_V3 = {**_UNTIED, "vocab_size": 129_280, "max_position_embeddings": 163_840, "q_lora_rank": 1536} | {
    **_LATENT,
    **_dense(7168, 61, 128, 128, 18432),
    **_experts("n_routed_experts", 256, 8, 2048, n_shared_experts=1, first_k_dense_replace=3),
}
MOONLIGHT = {**_UNTIED, "vocab_size": 163_840, "max_position_embeddings": 8_192, "q_lora_rank": None} | {
    **_LATENT,
    **_dense(2048, 27, 16, 16, 11264),
    **_experts("n_routed_experts", 64, 6, 1408, n_shared_experts=2, first_k_dense_replace=1),
}
KIMI_K2 = {
    **DEEPSEEK_V3,
    "vocab_size": 163_840,
    "max_position_embeddings": 131_072,
    **_dense(7168, 61, 64, 64, 18432),
    "n_routed_experts": 384,
    "first_k_dense_replace": 1,
}
_OSS = {**_UNTIED, "vocab_size": 201_088, "head_dim": 64, "sliding_window": 128, "max_position_embeddings": 131_072}
GPT_OSS = {
    "20B": _OSS | _dense(2880, 24, 64, 8, 2880) | {"num_local_experts": 32, "num_experts_per_tok": 4},
    "120B": _OSS | _dense(2880, 36, 64, 8, 2880) | {"num_local_experts": 128, "num_experts_per_tok": 4},
}
MIMO = {"7B": _qwen(tied=False, vocab=151_680) | _dense(4096, 36, 32, 8, 11008)}
SEED_OSS = {
    "36B": {**_UNTIED, "vocab_size": 155_136, "head_dim": 128, "attention_bias": True}
    | {"max_position_embeddings": 524_288}
    | _dense(5120, 64, 80, 8, 27648)
}
INTELLECT_3 = GLM45["Air"]


def _vision(text: Config, tower: Config) -> dict[str, Any]:
    return {"text_config": dict(text), "vision_config": dict(tower)}


# Llama4TextConfig's defaults (Scout); TensorRT-LLM's test of Llama 4 has Maverick's config.json
_LLAMA4 = {**_UNTIED, "vocab_size": 202_048, "head_dim": 128, "intermediate_size_mlp": 16_384, "num_experts_per_tok": 1}
_LLAMA4_TOWER = {"hidden_size": 1408, "intermediate_size": 5632, "num_hidden_layers": 34, "image_size": 336}
_LLAMA4_TOWER |= {"patch_size": 14, "vision_output_dim": 4096}
LLAMA4 = {
    "scout-17b-16e": _vision(
        {**_LLAMA4, **_dense(5120, 48, 40, 8, 8192), "num_local_experts": 16, "max_position_embeddings": 10_485_760},
        _LLAMA4_TOWER,
    ),
    "maverick-17b-128e": _vision(
        {**_LLAMA4, **_dense(5120, 48, 40, 8, 8192), "num_local_experts": 128, "max_position_embeddings": 1_048_576}
        | {"interleave_moe_layer_step": 2},
        _LLAMA4_TOWER,
    ),
}
# MllamaTextConfig's and MllamaVisionConfig's defaults, with the image size of the Instruct models
_MLLAMA_TOWER = {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32, "num_global_layers": 8}
_MLLAMA_TOWER |= {"patch_size": 14, "max_num_tiles": 4, "vision_output_dim": 7680}
_CROSS_11B, _CROSS_90B = [*range(3, 40, 5)], [*range(3, 100, 5)]
LLAMA32_VISION = {
    "11B": _vision(
        {**_LLAMA3, **_UNTIED, **_dense(4096, 40, 32, 8, 14336), "cross_attention_layers": _CROSS_11B},
        {**_MLLAMA_TOWER, "image_size": 560},
    ),
    "90B": _vision(
        {**_LLAMA3, **_UNTIED, **_dense(8192, 100, 64, 8, 28672), "cross_attention_layers": _CROSS_90B},
        {**_MLLAMA_TOWER, "image_size": 560},
    ),
}
_V25 = {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "patch_size": 14}
QWEN2_VL = {
    "2B": _vision(QWEN2["1.5B"], {"hidden_size": 1536}),
    "7B": _vision(QWEN2["7B"], {"hidden_size": 3584}),
    "72B": _vision(QWEN2["72B"], {"hidden_size": 8192}),
}
QWEN25_VL = {
    "3B": _vision(QWEN2["3B"], _V25 | {"out_hidden_size": 2048}),
    "7B": _vision(QWEN2["7B"], _V25 | {"out_hidden_size": 3584}),
    "32B": _vision(QWEN2["32B"], _V25 | {"intermediate_size": 3456, "out_hidden_size": 5120}),
    "72B": _vision(QWEN2["72B"], _V25 | {"intermediate_size": 3456, "out_hidden_size": 8192}),
}
_SMALL_V3 = {"depth": 24, "hidden_size": 1024, "intermediate_size": 4096, "deepstack_visual_indexes": [5, 11, 17]}
_V3 = {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "deepstack_visual_indexes": [8, 16, 24]}
QWEN3_VL = {
    "2B": _vision(QWEN3["1.7B"], _SMALL_V3 | {"out_hidden_size": 2048}),
    "4B": _vision(QWEN3["4B"], _SMALL_V3 | {"out_hidden_size": 2560}),
    "8B": _vision(QWEN3["8B"], _V3 | {"out_hidden_size": 4096}),
    "32B": _vision(QWEN3["32B"], _V3 | {"out_hidden_size": 5120}),
}
QWEN3_VL_MOE = {
    "30B-A3B": _vision(QWEN3_MOE["30B-A3B"], _V3 | {"out_hidden_size": 2048}),
    "235B-A22B": _vision(QWEN3_MOE["235B-A22B"], _V3 | {"out_hidden_size": 4096}),
}
