"""Public models by name: each shape counts up to what its makers publish."""

import pytest

from skyrl_train.memory.known import known_config

# Parameters in millions, from the models' own pages; the embedding counts once where it is tied.
PUBLISHED = {
    "Qwen/Qwen2.5-0.5B-Instruct": 494,
    "Qwen/Qwen2.5-Coder-1.5B": 1_544,
    "Qwen/Qwen2.5-3B": 3_086,
    "Qwen/Qwen2.5-Coder-7B-Instruct": 7_616,
    "Qwen/Qwen2.5-14B": 14_770,
    "Qwen/Qwen2.5-32B-Instruct": 32_764,
    "Qwen/Qwen2.5-72B": 72_706,
    "Qwen/Qwen3-0.6B": 596,
    "Qwen/Qwen3-1.7B": 1_721,
    "Qwen/Qwen3-4B-Base": 4_022,
    "Qwen/Qwen3-8B": 8_191,
    "Qwen/Qwen3-14B": 14_768,
    "Qwen/Qwen3-32B": 32_762,
    "meta-llama/Llama-3.2-1B": 1_236,
    "meta-llama/Llama-3.2-3B-Instruct": 3_213,
    "meta-llama/Llama-3.1-8B-Instruct": 8_030,
    "meta-llama/Llama-3.1-70B": 70_554,
    "meta-llama/Llama-3.3-70B-Instruct": 70_554,
    "mistralai/Mistral-7B-v0.3": 7_248,
}


def parameters(config: dict[str, int]) -> int:
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    head = config.get("head_dim") or hidden // heads
    query, kv = heads * head, config["num_key_value_heads"] * head
    bias = query + 2 * kv if config["model_type"] == "qwen2" else 0
    norms = 2 * hidden + (2 * head if config["model_type"] == "qwen3" else 0)
    layer = 2 * hidden * query + 2 * hidden * kv + 3 * hidden * config["intermediate_size"] + bias + norms
    embeddings = (1 if config["tie_word_embeddings"] else 2) * config["vocab_size"] * hidden
    return config["num_hidden_layers"] * layer + embeddings + hidden


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_known_shape_has_the_published_number_of_parameters(name: str) -> None:
    config = known_config(name)
    assert config is not None
    assert round(parameters(dict(config)) / 1e6) == PUBLISHED[name]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Qwen/Qwen2.5-0.7B",
        "Qwen/Qwen2.5-VL-7B-Instruct",
        "Qwen/Qwen2.5-Math-7B",
        "qwen2.5-7b",
        "Qwen/Qwen3-30B-A3B",
    ],
)
def test_another_name_has_no_shape(name: str) -> None:
    assert known_config(name) is None
