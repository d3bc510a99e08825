"""`max_model_len` exceeds the model's context.

## What it does
Compares `max_model_len` with `max_position_embeddings` of the model's config.json, including rope scaling.

## Why it breaks training
vLLM refuses to start; verl refuses before that.

## How to fix
Lower max_model_len to the model's own length, or use a model (or a rope_scaling) with a longer one.

## Example
    ValueError: User-specified max_model_len (4096) is greater than the derived max_model_len
    (max_position_embeddings=2048.0 or model_max_length=None in model's config.json).
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import longest_context

CAUSE = "max_model_len exceeds the model's context"

KEYS = ("model.path", "rollout.max_model_len")

SIGNATURES = (
    Signature(
        pattern=r"is greater than the derived max_model_len",
        sample="ValueError: User-specified max_model_len (4096) is greater than the derived max_model_len (max_position_embeddings=2048.0 or model_max_length=None in model's config.json).",
        explain=CAUSE,
        versions="vllm",
    ),
    Signature(
        pattern=r"User-specified (?:max_model_len|context_length) .{0,40}is greater than the derived|model context length should be greater than total sequence length",
        sample="AssertionError: model context length should be greater than total sequence length",
        explain=CAUSE,
        versions="verl, sglang",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:max_model_len|context length|max(?:imum)? sequence length)\b.{0,60}\b(?:larger|longer|greater|more) than\b.{0,80}\b(?:model|max_position_embeddings|trained|supports?)\b",
    sample="ValueError: max_model_len 65536 is larger than what the model was trained for (32768)",
    explain=CAUSE,
    versions="any",
    unless="max_num_batched_tokens",
)

KEY = "rollout.max_model_len"


@check("CFG005", fix="skyrl_train/config/models.py")
def model_context_too_short(plan: Plan, model: ModelFiles) -> Iterator[Finding]:
    expected = plan.integer(KEY)
    if expected is None:
        raise NotApplicable("max_model_len is not set, so the model's own context length applies")
    if model.config is None:
        raise NotApplicable(f"{model.name} has no config.json on this machine")
    has = longest_context(model.text_config)
    if has is None:
        raise NotApplicable(f"{model.label} has no max_position_embeddings")
    if expected > has:
        yield config_finding(
            f"{plan.name(KEY)} is {expected}, but {model.name} has a context of {has} tokens; expected at most {has}",
            plan.place(KEY),
            plan.settings({KEY: str(has)}),
            evidence=(f"{model.label}: max_position_embeddings",),
        )
