"""Shapes from config.json: known parameter counts, and every refusal."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_configs import LLAMA3_8B, QWEN3_17B, QWEN_05B, QWEN_7B
from skyrl_train.memory import BadModelError, MemoryModelError, ModelShape, UnsupportedModelError, shape_from_config
from skyrl_train.memory.config_file import FAMILIES, INNER
from skyrl_train.memory.parameters import in_adapters, in_model


def test_the_whole_shape() -> None:
    assert shape_from_config(json.dumps(QWEN_05B)) == ModelShape(
        family="qwen2",
        hidden=896,
        layers=24,
        heads=14,
        kv_heads=2,
        head_dim=64,
        intermediate=4864,
        vocab=151936,
        tied=True,
        qkv_bias=True,
        max_positions=32768,
    )


@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        (QWEN_05B, 494_032_768),
        (QWEN_7B, 7_615_616_512),
        (QWEN3_17B, 1_720_574_976),
        (LLAMA3_8B, 8_030_261_248),
        (LLAMA3_8B | {"architectures": ["MistralForCausalLM"], "model_type": "mistral"}, 8_030_261_248),
    ],
)
def test_parameters_as_published(config: dict[str, object], parameters: int) -> None:
    assert in_model(shape_from_config(config)) == parameters


def test_adapters_of_all_linear_maps() -> None:
    shape = shape_from_config(QWEN_05B)
    assert 24 * in_adapters(shape, 8) == 4_399_104  # peft's count for r=8, all-linear


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"hidden_size": None}, "config.json: hidden_size is missing"),
        ({"hidden_size": 0}, "config.json: hidden_size is 0; expected 1 to 131072"),
        ({"hidden_size": -896}, "config.json: hidden_size is -896; expected 1 to 131072"),
        ({"hidden_size": 896.5}, "config.json: hidden_size is 896.5; expected an integer"),
        ({"hidden_size": "896"}, 'config.json: hidden_size is "896"; expected an integer'),
        ({"hidden_size": True}, "config.json: hidden_size is true; expected an integer"),
        ({"hidden_size": 900}, "config.json: hidden_size 900 does not divide over 14 attention heads"),
        ({"vocab_size": 10**12}, "config.json: vocab_size is 1000000000000; expected 1 to 4194304"),
        ({"num_key_value_heads": 3}, "config.json: 14 attention heads do not divide over 3 key-value heads"),
        ({"num_key_value_heads": None}, "config.json: num_key_value_heads is missing"),
        ({"tie_word_embeddings": "yes"}, 'config.json: tie_word_embeddings is "yes"; expected true or false'),
        ({"model_type": None}, f"config.json: model_type is None; expected one of {', '.join((*FAMILIES, *INNER))}"),
    ],
)
def test_bad_values_are_named(change: dict[str, object], text: str) -> None:
    with pytest.raises(BadModelError) as caught:
        shape_from_config(QWEN_05B | change)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model_type": "jamba"}, "this architecture is not supported; for a rough figure pass --model"),
        ({"model_type": "qwen2_5_omni", "thinker_config": {}}, "this architecture is not supported"),
        ({"num_experts": 128}, "model_type 'qwen2' has no experts, but num_experts = 128"),
        ({"architectures": ["LlamaForCausalLM"]}, "architecture and model_type disagree"),
        ({"quantization_config": {"quant_method": "awq"}}, "quantised weights"),
    ],
)
def test_what_is_not_described_is_refused_with_the_reason(change: dict[str, object], reason: str) -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        shape_from_config(QWEN_05B | change)
    assert reason in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"qwen2"', "{}", "[" * 100_000])
def test_what_is_no_config_is_an_error(text: str) -> None:
    with pytest.raises(BadModelError):
        shape_from_config(text)


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6), st.lists(st.integers()))


@given(st.dictionaries(st.sampled_from([*QWEN_05B, "head_dim", "num_experts", "vision_config"]), VALUES, max_size=5))
def test_no_value_becomes_a_number_that_only_looks_right(change: dict[str, Any]) -> None:
    try:
        shape = shape_from_config(QWEN_05B | change)
    except MemoryModelError:
        return
    assert in_model(shape) > 0
    assert shape.heads % shape.kv_heads == 0


@pytest.mark.parametrize(
    ("scaling", "positions"),
    [
        ({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}, 131072),
        ({"rope_type": "default"}, 32768),
        ({"rope_type": "yarn", "factor": float("inf")}, 32768),
        ({"rope_type": "yarn", "factor": float("nan")}, 32768),
        ([4], 32768),
    ],
)
def test_stretched_positions_count(scaling: object, positions: int) -> None:
    assert shape_from_config({**QWEN_05B, "rope_scaling": scaling}).max_positions == positions
