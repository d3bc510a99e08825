"""The installed transformers does not support this model type.

## What it does
Looks up `model_type` of the model's config.json among the types of the training interpreter's transformers. vLLM's
own list is not checked, because vLLM supports many types through transformers.

## Why it breaks training
The configuration does not load. A newer model needs a newer transformers, which verl and vLLM may not allow.

## How to fix
Upgrade transformers as far as verl and vLLM allow, or use another model.

## Example
    KeyError: 'ministral3'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.facts.model_types import ModelTypes
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import model_type

MODEL_FAMILIES = r"(?:qwen|llama|mistral|ministral|gemma|phi|glm|deepseek|kimi|gpt_oss|olmo|granite|nemotron|seed_oss|ernie|minimax|hunyuan|falcon|cohere|exaone|smollm|bailing|longcat|mimo|apertus|dots)"
CAUSE = "the installed library is older than the model"
OLD_TRANSFORMERS = "the installed transformers is older than the model"

KEYS = ("model.path",)

SIGNATURES = (
    Signature(
        pattern=r"\bUnrecognized configuration class <class '(?P<config>[^'\n]{1,160})'> to build an (?P<kind>\w{1,40})",
        sample="ValueError: Unrecognized configuration class <class 'transformers.models.own.OwnConfig'> to build an AutoTokenizer.",
        explain="transformers has no class of the kind {kind} for the model's {config}: the model is of another kind, or newer than the installed release",
        remedy="Install the release of transformers that the model asks for. A model with images or code of its own has a processor or a tokenizer that `AutoProcessor` or `trust_remote_code` loads.",
        versions="transformers",
    ),
    Signature(
        pattern=rf"has model type `(?P<kind>(?!{MODEL_FAMILIES})[\w.-]{{1,60}})` but Transformers does not recognize\b",
        sample="ValueError: The checkpoint you are trying to load has model type `houselm` but Transformers does not recognize this architecture.",
        explain="transformers has no model type `{kind}`: the model brings its own code, or is newer than the library",
        remedy="config.json has `auto_map`: load the model with `trust_remote_code=True`, and keep its Python files in its directory. Code of your own: register it (`AutoConfig.register`) before the model loads. Otherwise upgrade transformers.",
        versions="transformers",
    ),
    Signature(
        pattern=r"\bdoes not recognize this architecture|\bTransformers does not recogni[sz]e(?: this)?$|Model architectures \[.{1,120}\] are not supported",
        sample="ValueError: The checkpoint you are trying to load has model type `ministral3` but Transformers does not recognize this architecture.",
        explain=CAUSE,
        versions="transformers, vllm",
    ),
    Signature(
        pattern=r"KeyError: 'ministral3'",
        sample="KeyError: 'ministral3'",
        explain=OLD_TRANSFORMERS,
        versions="transformers",
    ),
    Signature(
        pattern=r"(?:^\W{0,8}|\]:? |[-|\"] ?)KeyError: '[a-z][a-z0-9_]+'$",
        sample="KeyError: 'newmodel2'",
        explain=OLD_TRANSFORMERS,
        versions="transformers",
        near=r"CONFIG_MAPPING|configuration_auto\.py",
        within=20,
    ),
    Signature(
        pattern=r"has no (?:vLLM implementation|SG[Ll]ang implementation and the Transformers)|\bis not supported because no suitable `model_type` was found|\bModel \S{1,120} is not supported by megatron-bridge|\bunknown model architecture: '|\bTypeError: \w{1,60} isn't supported yet\.|\bUnregistered model type: \w|\bUnsloth: \S{1,120} (?:is )?not supported yet\b|model with architecture \S{1,60} is not supported|Tokenizer class \w+ does not exist or is not currently imported|rope_scaling. must be a dictionary with|untagged enum ModelWrapper|[Uu]nsupported (?:model )?architecture",
        sample="ValueError: Qwen9ForCausalLM has no vLLM implementation and the Transformers implementation is not compatible with vLLM.",
        explain=CAUSE,
        versions="vllm, transformers",
    ),
    Signature(
        pattern=r"cannot import name '\w+(?:ForCausalLM|ForConditionalGeneration|Config|Model)' from 'transformers|module '?transformers'? has no attribute '?\w+(?:ForCausalLM|ForConditionalGeneration|Config|Model)\b",
        sample="ImportError: cannot import name 'Qwen3ForCausalLM' from 'transformers' (/venv/lib/python3.12/site-packages/transformers/__init__.py)",
        explain=CAUSE,
        versions="transformers",
    ),
    Signature(
        pattern=rf"(?:^\W{{0,8}}|\]:? |[-|\"] ?)KeyError: ['\"]{MODEL_FAMILIES}[\w.-]{{0,30}}['\"]$",
        sample="KeyError: 'qwen3_next'",
        explain=CAUSE,
        versions="transformers",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:model type|architecture)\b.{0,80}(?:not supported|unsupported|unknown|not recogni[sz]ed|not registered)|\b(?:unknown|unsupported|unrecogni[sz]ed) (?:model type|model architecture|architecture)\b",
    sample="ValueError: model type 'qwen9' is not supported by this version",
    explain=CAUSE,
    versions="any",
    unless="(?i:gpu|cuda|sm_\\d|compute capability)",
)

KEY = "model.path"


@check("MOD004", fix="skyrl_train/config/models.py")
def architecture_unknown(plan: Plan, model: ModelFiles, known: ModelTypes) -> Iterator[Finding]:
    kind = model_type(model.config) if model.config is not None else None
    if kind is None:
        raise NotApplicable(f"{model.name} has no config.json with a model_type on this machine")
    if model.config is not None and "auto_map" in model.config:
        raise NotApplicable(f"{model.name} has its own code")
    if kind not in known.types:
        yield config_finding(
            f"transformers of {known.python} does not support model_type {kind!r} of {model.name}; expected one of its {len(known.types)} types",
            plan.place(KEY),
            summary="choose another model or upgrade transformers",
            evidence=(f"{model.label}: model_type",),
        )
