"""Keys of a config.json that the public names do not have, read as transformers reads them."""

from typing import Any

import pytest

from skyrl_train.memory import ModelShape, Rollout, UnsupportedModelError, shape_from_config
from skyrl_train.memory.known import known_config
from skyrl_train.memory.parameters import active_in_model, in_experts, in_layer, in_model
from skyrl_train.memory.shape import Experts, Wide
from skyrl_train.memory.vllm import kv_bytes_per_token


def config(name: str, **more: object) -> dict[str, Any]:
    return {**(known_config(name) or {}), **more}


def shape(name: str, **more: object) -> ModelShape:
    return shape_from_config(config(name, **more))


@pytest.mark.parametrize(
    ("keys", "dense"),
    [
        ({}, 0),
        ({"mlp_only_layers": [0, 3]}, 2),
        ({"mlp_layer_types": ["dense"] * 5 + ["sparse"] * 43}, 5),
        ({"first_k_dense_replace": 1}, 1),
    ],
)
def test_layers_with_an_mlp_in_place_of_experts(keys: dict[str, object], dense: int) -> None:
    found, plain = shape("Qwen3-30B-A3B", intermediate_size=6144, **keys), shape("Qwen3-30B-A3B")
    assert found.experts is not None
    assert found.experts.dense_layers == dense
    mlp = 3 * 2048 * 6144
    assert in_model(plain) - in_model(found) == dense * (in_experts(plain) - mlp)
    unused = 3 * 2048 * 768 * (128 - 8)
    assert in_model(found) - active_in_model(found) == (48 - dense) * unused


def test_the_kinds_of_layers_with_and_without_a_window() -> None:
    kinds = ["sliding_attention"] * 20 + ["full_attention"] * 6
    assert (shape("gemma-3-1b", layer_types=kinds).windowed, shape("gemma-3-1b").windowed) == (20, 22)


def test_the_kinds_of_layers_with_and_without_a_recurrent_state() -> None:
    kinds = ["linear_attention"] * 40 + ["full_attention"] * 8
    counts = [shape("Qwen3-Next-80B-A3B", **keys).full_attention for keys in ({}, {"layer_types": kinds})]
    assert counts == [12, 8]


def test_phi_without_heads_of_keys_has_one_for_each() -> None:
    found = shape("Phi-3-mini", num_key_value_heads=None)
    assert (found.heads, found.kv_heads) == (32, 32)


def test_the_whole_models_tie_comes_before_that_of_its_text() -> None:
    whole = config("Qwen2.5-VL-7B-Instruct")
    nested = {key: value for key, value in whole.items() if key != "tie_word_embeddings"}
    nested["text_config"] = {**whole["text_config"], "tie_word_embeddings": True}
    ties = [shape_from_config({**nested, **keys}).tied for keys in ({}, {"tie_word_embeddings": False})]
    assert ties == [True, False]


def test_a_sparse_vision_model_has_qwen3s_tower() -> None:
    """Patches in three dimensions, positions and a merger; Gemma's tower has none of them."""
    tower = {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "out_hidden_size": 4096}
    block = 4 * 1152**2 + 4 * 1152 + 2 * 1152 * 4304 + 4304 + 1152 + 4 * 1152
    merger = 4608**2 + 4608 + 4608 * 4096 + 4096
    rest = 3 * 2 * 16**2 * 1152 + 1152 + 2304 * 1152 + 2 * 1152
    text = {key: value for key, value in config("Qwen3.5-9B").items() if key != "architectures"}
    whole = {"model_type": "qwen3_5", "text_config": text, "vision_config": tower}
    assert shape_from_config(whole).vision == 27 * block + merger + rest


def test_quantised_weights_are_refused_with_the_way_out() -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        shape("Qwen2.5-7B", quantization_config={"quant_method": "awq"})
    assert str(caught.value) == (
        "model_type 'qwen2' (Qwen2ForCausalLM): quantised weights are not supported (quantization_config); "
        "pass --model with the bf16 model"
    )


def test_the_value_head_of_a_critic_is_one_row() -> None:
    found = shape("Qwen2.5-7B")
    assert in_model(found) - in_model(found, value_head=True) == 152_064 * 3584 - 3584 - 1
    assert in_layer(found) == (in_model(found) - 2 * 152_064 * 3584 - 3584) // 28


def gemma4(name: str = "gemma-4-31b", **more: object) -> dict[str, Any]:
    whole = config(name)
    return {**whole, "text_config": {**whole["text_config"], **more}}


def test_gemma_4s_layers_without_a_window_have_wide_heads() -> None:
    """10 of 60: 32 heads of 512 over 4 heads of keys, which are the values too."""
    found = shape_from_config(gemma4())
    assert (found.windowed, found.window, found.wide) == (50, 1024, Wide(10, 4, 512, shared=True))
    assert not found.is_measured
    bytes_a_token = kv_bytes_per_token(found, Rollout())
    assert bytes_a_token == 10 * 2 * 4 * 512 * 2
    assert kv_bytes_per_token(found, Rollout(tensor_parallel=2)) == bytes_a_token // 2
    plain = shape_from_config(gemma4(attention_k_eq_v=False))
    assert plain.wide == Wide(10, 16, 512, shared=False)
    assert in_model(plain) - in_model(found) == 10 * 5376 * 512 * (2 * 16 - 4)


def test_gemma_4_keeps_its_mlp_beside_the_experts() -> None:
    found = shape_from_config(gemma4("gemma-4-26b-a4b")).experts
    assert found == Experts(number=128, per_token=8, intermediate=704, shared=2112, scales=True)


@pytest.mark.parametrize(
    ("keys", "refused"),
    [
        ({"hidden_size_per_layer_input": 256}, "embeddings of each layer and shared keys (E2B, E4B) are not supported"),
        (
            {"hidden_size_per_layer_input": None},
            "embeddings of each layer and shared keys (E2B, E4B) are not supported",
        ),
        ({"num_kv_shared_layers": 18}, "num_kv_shared_layers is not supported"),
    ],
)
def test_gemma_4s_small_models_are_refused(keys: dict[str, object], refused: str) -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        shape_from_config(gemma4(**keys))
    other = "for a rough figure pass --model with a supported model of the same size"
    assert str(caught.value) == f"model_type 'gemma4_text': {refused}; {other}"


def test_every_second_layer_of_llama_4_may_have_no_experts() -> None:
    def layers(**more: object) -> int:
        whole = config("Llama-4-Maverick-17B-128E")
        experts = shape_from_config({**whole, "text_config": {**whole["text_config"], **more}}).experts
        assert experts is not None
        return experts.dense_layers

    assert [layers(), layers(interleave_moe_layer_step=1), layers(moe_layers=[1, 3, 5])] == [24, 0, 45]
