"""The config.json of each model measured, as its authors publish it. Weights are random: memory asks for shapes only."""

from typing import Any

QWEN2 = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "hidden_act": "silu",
    "initializer_range": 0.02,
    "rms_norm_eps": 1e-06,
    "attention_dropout": 0.0,
    "use_sliding_window": False,
    "max_position_embeddings": 32768,
    "dtype": "bfloat16",
    "vocab_size": 151936,
    "rope_parameters": {"rope_theta": 1000000.0, "rope_type": "default"},
    "tie_word_embeddings": True,
}
QWEN3 = QWEN2 | {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "attention_bias": False,
    "head_dim": 128,
    "max_position_embeddings": 40960,
}
LLAMA3 = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "initializer_range": 0.02,
    "rms_norm_eps": 1e-05,
    "attention_bias": False,
    "attention_dropout": 0.0,
    "mlp_bias": False,
    "max_position_embeddings": 131072,
    "dtype": "bfloat16",
    "vocab_size": 128256,
    "rope_parameters": {"rope_theta": 500000.0, "rope_type": "default"},
    "tie_word_embeddings": True,
    "head_dim": 64,
}


def _sizes(hidden: int, layers: int, heads: int, kv_heads: int, intermediate: int) -> dict[str, int]:
    return {
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": intermediate,
    }


def _experts(number: int, per_token: int, intermediate: int) -> dict[str, Any]:
    return {
        "architectures": ["Qwen3MoeForCausalLM"],
        "model_type": "qwen3_moe",
        "num_experts": number,
        "num_experts_per_tok": per_token,
        "moe_intermediate_size": intermediate,
        "decoder_sparse_step": 1,
        "norm_topk_prob": True,
        "router_aux_loss_coef": 0.001,
        "output_router_logits": False,
        "mlp_only_layers": [],
        "tie_word_embeddings": False,
    }


SHAPES: dict[str, dict[str, Any]] = {
    "qwen2.5-0.5b": QWEN2 | _sizes(896, 24, 14, 2, 4864),
    "qwen2.5-1.5b": QWEN2 | _sizes(1536, 28, 12, 2, 8960),
    "qwen2.5-3b": QWEN2 | _sizes(2048, 36, 16, 2, 11008),
    "qwen2.5-7b": QWEN2 | _sizes(3584, 28, 28, 4, 18944) | {"vocab_size": 152064, "tie_word_embeddings": False},
    "qwen2.5-14b": QWEN2 | _sizes(5120, 48, 40, 8, 13824) | {"vocab_size": 152064, "tie_word_embeddings": False},
    "qwen3-0.6b": QWEN3 | _sizes(1024, 28, 16, 8, 3072),
    "llama3.2-1b": LLAMA3 | _sizes(2048, 16, 32, 8, 8192),
    "qwen3-30b-a3b-4-layers": QWEN3 | _sizes(2048, 4, 32, 4, 6144) | _experts(128, 8, 768),
    "tiny-moe": QWEN3 | _sizes(64, 2, 2, 1, 128) | _experts(4, 2, 32) | {"vocab_size": 512, "head_dim": 32},
    "tiny": QWEN2 | _sizes(64, 2, 2, 1, 128) | {"vocab_size": 512, "max_position_embeddings": 1024},
}
"""Name -> config.json. `tiny` and `tiny-moe` are for trying the program out, on a CPU too. The mixture of experts has the
published layers of Qwen3-30B-A3B, but only four of them, so that it fits on two GPUs."""
