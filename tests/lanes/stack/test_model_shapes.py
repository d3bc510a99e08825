"""Our counts of parameters against the models that transformers builds from the same configuration."""

from typing import Any

import pytest

from skyrl_train.memory import shape_from_config
from skyrl_train.memory.known import known_config
from skyrl_train.memory.parameters import in_model

pytestmark = [pytest.mark.verl, pytest.mark.filterwarnings("ignore")]
NAMES = (
    "Qwen2.5-0.5B",
    "DeepSeek-R1-Distill-Qwen-1.5B",
    "Qwen1.5-MoE-A2.7B",
    "Qwen2-VL-7B",
    "Qwen2.5-VL-7B",
    "Qwen3-8B",
    "Qwen3-30B-A3B",
    "Qwen3-VL-8B",
    "Qwen3-VL-30B-A3B",
    "Qwen3-Next-80B-A3B",
    "Qwen3.5-4B",
    "Qwen3.5-35B-A3B",
    "Llama-3.2-1B",
    "Mistral-7B-v0.3",
    "Mixtral-8x7B",
    "gemma-2b",
    "gemma-2-2b",
    "gemma-3-1b",
    "gemma-3-4b",
    "Phi-4-mini",
    "GLM-4-9B-0414",
    "GLM-4.5-Air",
    "GLM-4.7-Flash",
    "DeepSeek-V3",
    "Moonlight-16B-A3B",
    "gpt-oss-20b",
    "Seed-OSS-36B",
    "gemma-4-31b-it",
    "gemma-4-26b-a4b-it",
    "Ministral-8B-Instruct-2410",
    "Ministral-3-3B-Instruct-2512",
    "Ministral-3-14B-Instruct-2512",
    "Devstral-Small-2507",
    "Devstral-Small-2-24B-Instruct-2512",
    "DeepSeek-V2-Lite",
    "Llama-4-Scout-17B-16E-Instruct",
    "Llama-4-Maverick-17B-128E-Instruct",
    "Llama-3.2-11B-Vision-Instruct",
    "Llama-3.2-90B-Vision-Instruct",
)


@pytest.mark.parametrize("name", NAMES)
def test_our_count_is_that_of_transformers(name: str) -> None:
    config = known_config(name)
    assert config is not None
    assert in_model(shape_from_config(config)) == _parameters(dict(config))


def _parameters(config: dict[str, Any]) -> int:
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    kind = config.pop("model_type")
    del config["architectures"]
    sees = "text_config" in config
    if sees:
        config["tie_word_embeddings"] = config["text_config"].get("tie_word_embeddings", False)
    with torch.device("meta"):
        model = (AutoModelForImageTextToText if sees else AutoModelForCausalLM).from_config(
            CONFIG_MAPPING[kind](**config)
        )
    return sum(parameter.numel() for parameter in model.parameters())
