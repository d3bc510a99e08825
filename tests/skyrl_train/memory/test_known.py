"""Public models by name: each shape counts up to what transformers builds and its makers publish."""

import pytest

from skyrl_train.memory import UnsupportedModelError, shape_from_config
from skyrl_train.memory.known import known_config
from skyrl_train.memory.parameters import active_in_model, in_model

PARAMETERS = {
    "Qwen/Qwen2.5-0.5B-Instruct": 494_032_768,
    "Qwen/Qwen2.5-Coder-1.5B": 1_543_714_304,
    "Qwen/Qwen2.5-3B": 3_085_938_688,
    "Qwen/Qwen2.5-Math-7B": 7_615_616_512,
    "Qwen/Qwen2.5-14B": 14_770_033_664,
    "Qwen/QwQ-32B": 32_763_876_352,
    "Qwen/Qwen2.5-72B": 72_706_203_648,
    "Qwen/Qwen1.5-MoE-A2.7B-Chat": 14_315_784_192,
    "Qwen/Qwen2-VL-7B-Instruct": 8_291_375_616,
    "Qwen/Qwen2.5-VL-3B-Instruct": 3_754_622_976,
    "Qwen/Qwen2.5-VL-7B-Instruct": 8_292_166_656,
    "Qwen/Qwen2.5-VL-32B-Instruct": 33_452_718_336,
    "Qwen/Qwen3-0.6B": 596_049_920,
    "Qwen/Qwen3-4B-Instruct-2507": 4_022_468_096,
    "Qwen/Qwen3-8B": 8_190_735_360,
    "Qwen/Qwen3-30B-A3B-Instruct-2507": 30_532_122_624,
    "Qwen/Qwen3-235B-A22B": 235_093_634_560,
    "Qwen/Qwen3-Coder-480B-A35B-Instruct": 480_154_875_392,
    "Qwen/Qwen3-VL-2B-Instruct": 2_127_532_032,
    "Qwen/Qwen3-VL-8B-Instruct": 8_767_123_696,
    "Qwen/Qwen3-VL-30B-A3B-Instruct": 31_070_754_032,
    "Qwen/Qwen3-Next-80B-A3B-Instruct": 79_674_391_296,
    "Qwen/Qwen3.5-0.8B": 752_393_024,
    "Qwen/Qwen3.5-9B": 8_953_803_264,
    "Qwen/Qwen3.5-27B": 26_895_998_464,
    "Qwen/Qwen3.6-35B-A3B": 34_660_610_688,
    "Qwen/Qwen3.5-397B-A17B": 396_346_350_336,
    "meta-llama/Meta-Llama-3-8B-Instruct": 8_030_261_248,
    "meta-llama/Llama-3.2-1B": 1_235_814_400,
    "meta-llama/Llama-3.2-3B-Instruct": 3_212_749_824,
    "meta-llama/Llama-3.3-70B-Instruct": 70_553_706_496,
    "meta-llama/Llama-3.1-405B": 405_853_388_800,
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B": 1_777_088_000,
    "deepseek-ai/DeepSeek-R1-Distill-Llama-8B": 8_030_261_248,
    "deepseek-ai/DeepSeek-R1-0528-Qwen3-8B": 8_190_735_360,
    "deepseek-ai/deepseek-llm-7b-chat": 6_910_365_696,
    "deepseek-ai/deepseek-coder-6.7b-instruct": 6_740_512_768,
    "deepseek-ai/DeepSeek-V3-0324": 671_026_404_352,
    "HuggingFaceTB/SmolLM2-135M-Instruct": 134_515_008,
    "mistralai/Mistral-7B-Instruct-v0.3": 7_248_023_552,
    "mistralai/Mistral-Nemo-Instruct-2407": 12_247_782_400,
    "mistralai/Mixtral-8x7B-v0.1": 46_702_792_704,
    "google/gemma-2b-it": 2_506_172_416,
    "google/gemma-2-9b": 9_241_705_984,
    "google/gemma-3-1b-it": 999_885_952,
    "google/gemma-3-4b-it": 4_300_079_472,
    "mistralai/Ministral-8B-Instruct-2410": 8_019_808_256,
    "deepseek-ai/DeepSeek-V3.1": 671_026_404_352,
    "deepseek-ai/DeepSeek-V2-Lite-Chat": 15_706_484_224,
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": 108_641_793_536,
    "meta-llama/Llama-4-Maverick-17B-128E": 401_583_781_376,
    "meta-llama/Llama-3.2-11B-Vision-Instruct": 10_670_220_835,
    "microsoft/Phi-3-mini-128k-instruct": 3_821_079_552,
    "microsoft/Phi-4-mini-instruct": 3_836_021_760,
    "microsoft/phi-4": 14_659_507_200,
    "zai-org/GLM-4-9B-0414": 9_400_279_040,
    "zai-org/GLM-4.5-Air": 106_852_245_504,
    "zai-org/GLM-4.6": 352_797_814_784,
    "zai-org/GLM-4.7-Flash": 29_943_390_976,
    "moonshotai/Moonlight-16B-A3B-Instruct": 15_960_108_544,
    "moonshotai/Kimi-K2-Instruct": 1_026_408_209_408,
    "openai/gpt-oss-20b": 20_914_757_184,
    "openai/gpt-oss-120b": 116_829_156_672,
    "XiaomiMiMo/MiMo-7B-RL": 7_622_619_136,
    "ByteDance-Seed/Seed-OSS-36B-Base": 36_151_104_512,
}
ACTIVE_BILLIONS = {
    "google/gemma-4-26b-a4b-it": 3.8,
    "meta-llama/Llama-4-Scout-17B-16E": 17.2,
    "Qwen/Qwen3-30B-A3B": 3.4,
    "Qwen/Qwen3-235B-A22B": 22.2,
    "mistralai/Mixtral-8x7B-v0.1": 12.9,
    "deepseek-ai/DeepSeek-V3": 37.6,
    "Qwen/Qwen3.5-35B-A3B": 3.5,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_known_shape_has_the_published_number_of_parameters(name: str) -> None:
    config = known_config(name)
    assert config is not None
    assert in_model(shape_from_config(config)) == PARAMETERS[name]


@pytest.mark.parametrize("name", ACTIVE_BILLIONS)
def test_the_parameters_that_a_token_passes(name: str) -> None:
    active = active_in_model(shape_from_config(known_config(name) or {}))
    assert round(active / 1e9, 1) == ACTIVE_BILLIONS[name]


@pytest.mark.parametrize(
    "name",
    [
        "qwen3-8b",
        "/data/models/Qwen3-8B",
        "/data/models/Qwen3-8B-Base/",
        "me/Qwen3-8B-my-sft-v2",
        "/data/qwen3_8b_sft/global_step_100/actor/huggingface",
        "/cache/models--Qwen--Qwen3-8B/snapshots/0123456789abcdef0123456789abcdef01234567",
        "${HOME}/models/Qwen3-8B",
        "checkpoint/multiturn-sft-qwen3-8b/global_step_372",
    ],
)
def test_the_last_part_of_a_name_or_a_path_decides(name: str) -> None:
    public = known_config("Qwen/Qwen3-8B") or {}
    found = known_config(name) or {}
    assert {**public, **found} == public
    assert set(public) - set(found) <= {"max_position_embeddings"}


@pytest.mark.parametrize(
    ("name", "public"),
    [
        ("/models/Qwen3-30B", "Qwen/Qwen3-30B-A3B"),
        ("/models/Qwen3-30B-MoE", "Qwen/Qwen3-30B-A3B"),
        ("/Qwen3-30B-MoE-merge", "Qwen/Qwen3-30B-A3B"),
        ("/models/Qwen3-235B", "Qwen/Qwen3-235B-A22B"),
        ("/home/user/moonlight16b", "moonshotai/Moonlight-16B-A3B"),
    ],
)
def test_a_size_that_one_model_has_needs_no_active_size(name: str, public: str) -> None:
    expected = {key: value for key, value in (known_config(public) or {}).items() if key != "max_position_embeddings"}
    assert known_config(name) == expected


@pytest.mark.parametrize(
    ("name", "length"),
    [
        ("Qwen/Qwen3-8B", 40960),
        ("Qwen/Qwen3-30B-A3B", 40960),
        ("Qwen/Qwen2.5-7B-Instruct", 32768),
        ("meta-llama/Llama-3.1-8B-Instruct", 131072),
        ("Qwen/Qwen2.5-7B", None),
        ("Qwen/Qwen3-8B-Base", None),
        ("Qwen/Qwen3-4B-Instruct-2507", None),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", None),
        ("multiturn-sft-qwen-2.5-7b-instruct", None),
        ("agentica-org/DeepScaleR-1.5B-Preview", None),
        ("agentica-org/DeepCoder-14B-Preview", None),
    ],
)
def test_only_a_public_name_tells_the_context(name: str, length: int | None) -> None:
    assert (known_config(name) or {"max_position_embeddings": 0}).get("max_position_embeddings") == length


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "Qwen/Qwen2.5-0.7B",
        "Qwen/Qwen2.5-7B-Instruct-AWQ",
        "Qwen/Qwen3-8B-FP8",
        "Qwen/Qwen3-Embedding-8B",
        "Qwen/Qwen2.5-Omni-7B",
        "me/Qwen3-8B-MoE",
        "me/Qwen2.5-7B-VL",
        "Qwen/Qwen3-32B-4bit",
        "/qwen3-8b-project/my_model",
        "not-qwen3-8b",
        "Qwen/Qwen3-80B",
        "google/gemma-4-9b",
        "mistralai/Devstral-2-123B-Instruct-2512",
        "meta-llama/Llama-3.2-11B-Vision-8bit",
        "$MODEL",
    ],
)
def test_another_name_has_no_shape(name: str) -> None:
    assert known_config(name) is None


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("zai-org/GLM-5", "model_type 'glm_moe_dsa' (GlmMoeDsaForCausalLM): sparse attention is not supported"),
        ("zai-org/GLM-5.1", "model_type 'glm_moe_dsa' (GlmMoeDsaForCausalLM): sparse attention is not supported"),
        ("deepseek-ai/DeepSeek-V3.2", "model_type 'deepseek_v32' (DeepseekV32ForCausalLM): sparse attention is not"),
        (
            "google/gemma-4-E4B-it",
            "model_type 'gemma4_text': embeddings of each layer and shared keys (E2B, E4B) are not",
        ),
    ],
)
def test_a_known_name_without_a_count_is_refused_with_the_reason(name: str, refused: str) -> None:
    with pytest.raises(UnsupportedModelError) as caught:
        shape_from_config(known_config(name) or {})
    assert str(caught.value).startswith(refused)
    assert str(caught.value).endswith("; for a rough figure pass --model with a supported model of the same size")
