"""The model is a vision-language model, but the loader supports only text models.

## What it does
Recognises vision-language models by their config.json, or by their name if the file is not on this machine. It
reports them only for loaders that support only text models: SkyRL's, and prime-rl's of January 2026.

## Why it breaks training
AutoModelForCausalLM does not know the configuration class.

## How to fix
Use the text model of the same family.

## Example
    ValueError: Unrecognized configuration class <class 'Qwen3VLConfig'> for this kind of AutoModel: AutoModelForCausalLM
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import sees_images

CAUSE = "the model is a vision-language model, but the loader supports only text models"

KEYS = ("model.path",)

LOAD = "Load it with `AutoModelForImageTextToText` (transformers), or use a text model of the same family. A trainer needs a version that supports this model type: its release notes name them."

SIGNATURES = (
    Signature(
        pattern=r"Unrecognized configuration class .{0,200}(?:VL|Vision|Omni|Llava|Pixtral)\w*Config",
        sample="ValueError: Unrecognized configuration class <class 'transformers.models.qwen3_vl.configuration_qwen3_vl.Qwen3VLConfig'> for this kind of AutoModel: AutoModelForCausalLM.",
        explain=CAUSE,
        remedy=LOAD,
        versions="transformers",
    ),
    Signature(
        pattern=r"Unrecognized configuration class .{0,200}(?:Mistral3|Gemma3n?|PaliGemma|Mllama|Idefics|Glm4v|Kimi_?VL|InternVL|Llama4|AyaVision)\w*Config\b",
        sample="ValueError: Unrecognized configuration class <class 'transformers.models.mistral3.configuration_mistral3.Mistral3Config'> for this kind of AutoModel: AutoModelForCausalLM.",
        explain=CAUSE,
        remedy=LOAD,
        versions="transformers",
    ),
    Signature(
        pattern=r"'\w*(?:VL|Vision|Omni|Llava|Pixtral|Mllama|Mistral3|Gemma3)\w*Config' object has no attribute '",
        sample="AttributeError: 'Qwen2_5_VLConfig' object has no attribute 'vocab_size'",
        explain=CAUSE,
        remedy=LOAD,
        versions="transformers",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:vision|multi-?modal)(?:[- ]language)?[- ]models?\b.{0,60}(?:not supported|unsupported|cannot)",
    sample="ValueError: vision-language models are not supported here",
    explain=CAUSE,
    versions="any",
)

KEY = "model.path"
TEXT_ONLY = ("skyrl-agent", "prime-rl-2025")


@check("MOD002", fix="skyrl_train/config/models.py")
def vision_language_model(plan: Plan, model: ModelFiles) -> Iterator[Finding]:
    if not sees_images(model.name, model.config):
        return
    if not plan.is_of(*TEXT_ONLY):
        raise NotApplicable("current verl and prime-rl load vision-language models")
    yield config_finding(
        f"{model.name} is a vision-language model, which AutoModelForCausalLM does not load; expected a text model",
        plan.place(KEY),
        summary="choose a text model",
        evidence=(f"found in {model.label}",),
    )
