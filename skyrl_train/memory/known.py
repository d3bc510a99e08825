"""Finds the shape of a public model by its name, for a machine without the model's files.

A name is matched by its last part: `Qwen/Qwen3-8B`, `/models/Qwen3-8B-my-sft` and `models--Qwen--Qwen3-8B` are one shape. What
follows family and size may be anything but a word for another shape or for quantised weights.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from skyrl_train.memory import public_shapes as shapes

_SIZE = r"(?P<size>\d+(?:\.\d+)?[bm])"
_KIND = r"(?:-(?:coder|math|instruct|base|tulu|distill|chat))?"
_OTHER = re.compile(
    r"(?:^|-)(?:awq|gptq|gguf|exl\d|bnb|w\d+a\d+|fp8|nvfp4|mxfp4|(?:int|nf|fp)[48]|[48]-?bit|embedding|reranker|rm|prm|reward"
    r"|audio|omni|vl|vision|eagle\d?|draft|pruned|moe|next|tiny|mini|layers?|a\d+(?:\.\d+)?b)(?:-|$)"
)
"""Words that make another shape of the same family and size."""
_HAS_LENGTH = re.compile(
    r"qwen-?2\.5-[\d.]+b-instruct|qwen-?3-(?!(?:30|235)b$)[\d.]+b(?:-a\d+b)?|(?:meta-)?llama-?[23](?:\.\d)?-\d+b(?:-instruct|-chat)?"
)
"""The public names whose context is the one of the table. Bases, distilled and trained models have contexts of their own."""
_TRAINED = re.compile(r"(?:(?:multi-?turn|cold-?start|sft|rl|grpo|ppo|dapo|dpo|rft|my|our)-)+")
"""Words before the name of the model that was trained."""
_PLACES = re.compile(r"snapshots|[0-9a-f]{40}|(?:checkpoint|global_?step|step|epoch|iter)[-_]?\d*|actor|critic|huggingface|hf|model|weights|final|latest|best|last|main")  # fmt: skip
"""Names of folders that say nothing of the model in them."""
_HUB = re.compile(r"models--[^/]*?--")

# (architecture, model_type, names, shapes)
_FAMILIES: tuple[tuple[str, str, str, Mapping[str, Any]], ...] = (
    ("Qwen2VLForConditionalGeneration", "qwen2_vl", rf"qwen-?2-vl-{_SIZE}", shapes.QWEN2_VL),
    ("Qwen2_5_VLForConditionalGeneration", "qwen2_5_vl", rf"qwen-?2\.5-vl-{_SIZE}", shapes.QWEN25_VL),
    ("Qwen3VLForConditionalGeneration", "qwen3_vl", rf"qwen-?3-vl-{_SIZE}(?!-a\d)", shapes.QWEN3_VL),
    ("Qwen3VLMoeForConditionalGeneration", "qwen3_vl_moe", r"qwen-?3-vl-(?P<size>\d+b-a\d+b)", shapes.QWEN3_VL_MOE),
    ("Qwen2ForCausalLM", "qwen2", rf"qwen-?2(?:\.5)?{_KIND}-{_SIZE}", shapes.QWEN2),
    ("Qwen2ForCausalLM", "qwen2", rf"(?:deepseek-)?(?:r1-)?distill-qwen-{_SIZE}", shapes.R1_DISTILL_QWEN),
    ("Qwen2ForCausalLM", "qwen2", rf"(?:qwq|skywork-or1|deepcoder|eurus-2|am-thinking-v1)-{_SIZE}", shapes.QWEN2),
    ("Qwen2ForCausalLM", "qwen2", rf"deepscaler-{_SIZE}", shapes.R1_DISTILL_QWEN),
    ("Qwen2MoeForCausalLM", "qwen2_moe", r"qwen1\.5-moe-(?P<size>a2\.7b)", shapes.QWEN15_MOE),
    ("Qwen3MoeForCausalLM", "qwen3_moe", r"qwen-?3(?:-coder)?-(?P<size>\d+b-a\d+b)", shapes.QWEN3_MOE),
    ("Qwen3MoeForCausalLM", "qwen3_moe", r"qwen-?3-(?P<size>30b|235b)(?:-moe)?(?!-a\d)", shapes.QWEN3_MOE_BY_TOTAL),
    ("Qwen3ForCausalLM", "qwen3", rf"qwen-?3{_KIND}-{_SIZE}", shapes.QWEN3),
    ("Qwen3ForCausalLM", "qwen3", r"deepseek-r1-0528-qwen3-(?P<size>8b)", shapes.QWEN3),
    ("Qwen3NextForCausalLM", "qwen3_next", r"qwen-?3-(?:coder-)?next-(?P<size>80b-a3b)", shapes.QWEN3_NEXT),
    ("Qwen3_5MoeForCausalLM", "qwen3_5_moe_text", r"qwen-?3\.[567]-(?P<size>\d+b-a\d+b)", shapes.QWEN35_MOE),
    ("Qwen3_5ForCausalLM", "qwen3_5_text", rf"qwen-?3\.[567]-{_SIZE}", shapes.QWEN35),
    ("MllamaForConditionalGeneration", "mllama", r"llama-3\.2-(?P<size>\d+b)-vision", shapes.LLAMA32_VISION),
    ("Llama4ForConditionalGeneration", "llama4", r"llama-4-(?P<size>\w+-17b-\d+e)", shapes.LLAMA4),
    ("LlamaForCausalLM", "llama", r"(?:meta-)?llama-?(?P<size>[23](?:\.[123])?-\d+b)", shapes.LLAMA),
    ("LlamaForCausalLM", "llama", rf"(?:deepseek-)?(?:r1-)?distill-llama-{_SIZE}", shapes.R1_DISTILL_LLAMA),
    ("LlamaForCausalLM", "llama", rf"deepseek-(?:llm|math)-{_SIZE}", shapes.DEEPSEEK_LLM),
    ("LlamaForCausalLM", "llama", rf"deepseek-coder-{_SIZE}", shapes.DEEPSEEK_CODER),
    ("LlamaForCausalLM", "llama", rf"smollm2-{_SIZE}", shapes.SMOLLM2),
    ("MistralForCausalLM", "mistral", r"mistral-(?:(?P<size>7b)-)?(?:instruct-)?(?P<version>v0\.[123])", shapes.MISTRAL),
    ("MistralForCausalLM", "mistral", r"mistral-(?P<size>nemo|small-24b)", shapes.MISTRAL),
    ("MistralForCausalLM", "mistral", r"ministral-(?P<size>8b)-instruct-2410", shapes.MINISTRAL),
    ("Mistral3ForConditionalGeneration", "mistral3", rf"ministral-3-{_SIZE}", shapes.MINISTRAL3),
    ("Mistral3ForConditionalGeneration", "mistral3", r"devstral-(?P<size>small-2-24b)", shapes.DEVSTRAL2),
    ("MistralForCausalLM", "mistral", r"devstral-(?P<size>small)(?!-2-)", shapes.DEVSTRAL),
    ("MixtralForCausalLM", "mixtral", r"mixtral-(?P<size>8x(?:7|22)b)", shapes.MIXTRAL),
    ("Gemma4ForConditionalGeneration", "gemma4", r"gemma-?4-(?P<size>31b|26b-a4b)", shapes.GEMMA4),
    ("Gemma4ForConditionalGeneration", "gemma4", r"gemma-?4-(?P<size>)e[24]b", {"": shapes.GEMMA4_E}),
    ("Gemma3ForCausalLM", "gemma3_text", r"gemma-?3-(?P<size>1b)", shapes.GEMMA3),
    ("Gemma3ForConditionalGeneration", "gemma3", rf"gemma-?3-{_SIZE}", shapes.GEMMA3_VL),
    ("Gemma2ForCausalLM", "gemma2", rf"gemma-?2-(?=\d+b-|\d+b$){_SIZE}", shapes.GEMMA2),
    ("GemmaForCausalLM", "gemma", rf"gemma(?:-1\.1)?-{_SIZE}", shapes.GEMMA),
    ("Phi3ForCausalLM", "phi3", r"phi-?(?P<size>3-mini|3-medium|4-mini)", shapes.PHI3),
    ("Phi3ForCausalLM", "phi3", r"phi-?(?P<size>4)(?!-(?:mini|multimodal))", shapes.PHI3),
    ("Phi3ForCausalLM", "phi3", r"phi-3\.5-(?P<size>mini)", {"mini": shapes.PHI3["3-mini"]}),
    ("Glm4MoeForCausalLM", "glm4_moe", r"glm-4\.5-(?P<size>air)", shapes.GLM45),
    ("Glm4MoeForCausalLM", "glm4_moe", r"(?P<size>)glm-4\.[567](?!v|-air|-flash)", shapes.GLM45),
    ("Glm4MoeForCausalLM", "glm4_moe", r"intellect-(?P<size>3)", {"3": shapes.INTELLECT_3}),
    ("Glm4MoeLiteForCausalLM", "glm4_moe_lite", r"glm-4\.7-(?P<size>flash)", {"flash": shapes.GLM47_FLASH}),
    ("GlmMoeDsaForCausalLM", "glm_moe_dsa", r"(?P<size>)glm-5(?:\.\d)?", {"": shapes.SPARSE}),
    ("Glm4ForCausalLM", "glm4", rf"glm-(?:z1-|4-){_SIZE}-0414", shapes.GLM4),
    ("DeepseekV3ForCausalLM", "deepseek_v3", r"deepseek-(?P<size>v3(?:\.1)?|r1)(?!-distill)", {"v3": shapes.DEEPSEEK_V3, "v3.1": shapes.DEEPSEEK_V3, "r1": shapes.DEEPSEEK_V3}),
    ("DeepseekV32ForCausalLM", "deepseek_v32", r"deepseek-(?P<size>)v3\.2", {"": shapes.SPARSE}),
    ("DeepseekV2ForCausalLM", "deepseek_v2", r"deepseek-(?:coder-)?(?P<size>v2-lite)", {"v2-lite": shapes.DEEPSEEK_V2_LITE}),
    ("DeepseekV3ForCausalLM", "deepseek_v3", r"moonlight-?(?P<size>16b)(?:-a3b)?", {"16b": shapes.MOONLIGHT}),
    ("DeepseekV3ForCausalLM", "deepseek_v3", r"kimi-(?P<size>k2)(?!\.5)", {"k2": shapes.KIMI_K2}),
    ("GptOssForCausalLM", "gpt_oss", rf"gpt-oss-{_SIZE}", shapes.GPT_OSS),
    ("MiMoForCausalLM", "mimo", rf"mimo-{_SIZE}", shapes.MIMO),
    ("SeedOssForCausalLM", "seed_oss", rf"seed-oss-{_SIZE}", shapes.SEED_OSS),
)  # fmt: skip
EXAMPLES = "Qwen/Qwen3-8B, meta-llama/Llama-3.1-8B, Qwen/Qwen3-30B-A3B"


def known_config(name: str) -> Mapping[str, Any] | None:
    """The shape in the config.json of the model of this name or path, or None if the name is unknown."""
    return next((config for part in _parts(name) if (config := _config(part)) is not None), None)


def _parts(name: str) -> Iterator[str]:
    """The last part of a name or a path; the one before if the last names only a place, such as `global_step_100`."""
    for part in reversed(_HUB.sub("", name.strip().rstrip("/")).split("/")):
        if part:
            name = part.lower().replace("_", "-")
            yield name
            if _TRAINED.match(name):
                yield f"{_TRAINED.sub('', name, count=1)}-trained"
        if not _PLACES.fullmatch(part.lower()):
            return


@lru_cache(maxsize=64)
def _config(part: str) -> Mapping[str, Any] | None:
    for architecture, kind, pattern, sizes in _FAMILIES:
        if not part.startswith(_first_letters(pattern)):
            continue
        found = re.match(rf"{pattern}(?![.\d\w])", part)
        if found is None:
            continue
        rest = part[found.end() :]
        shape = _of_size(found, sizes)
        if shape is not None and not _OTHER.search(rest):
            known = shape if _HAS_LENGTH.fullmatch(part) else _without_length(shape)
            return {"model_type": kind, "architectures": [architecture], **known}
    return None


def _without_length(shape: Mapping[str, Any]) -> dict[str, Any]:
    inner = shape.get("text_config")
    kept = {key: value for key, value in shape.items() if key != "max_position_embeddings"}
    return kept if inner is None else {**kept, "text_config": _without_length(inner)}


def _first_letters(pattern: str) -> str:
    """The letters that every name of a pattern begins with. Most patterns need not be compiled then, which takes 1 ms each."""
    letters = re.match(r"[a-z]*(?![?*{])", pattern)
    return letters[0] if letters else ""


def _of_size(found: re.Match[str], sizes: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    words = found.groupdict()
    size = "-".join(word for word in (words["size"], words.get("version")) if word)
    if "version" in words and not words["size"]:
        size = f"7b-{size}"
    return next((shape for key, shape in sizes.items() if key.lower() == size.lower()), None)
