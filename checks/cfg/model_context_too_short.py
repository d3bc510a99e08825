"""`max_model_len` exceeds the model's context.

## What it does
Compares `max_model_len` with `max_position_embeddings` of the model's config.json, including rope scaling; of a public model
that is not on this machine, with that of its name. Without `max_model_len`, the engine takes the model's own length: then
compares prompt and response with it, under verl and SkyRL; under prime-rl, the tokens of one call.

## Why it breaks training
vLLM refuses to start; verl refuses before that. A prompt and response beyond the model's own length are refused by verl before
0.7; since then verl, as SkyRL, cuts the replies at that length, and they end without an answer.

## How to fix
Lower max_model_len, or the longest response, to the model's own length, or use a model (or a rope_scaling) with a longer one.

## Example
    ValueError: User-specified max_model_len (4096) is greater than the derived max_model_len
    (max_position_embeddings=2048.0 or model_max_length=None in model's config.json).
"""

from collections.abc import Iterator

from checks.cfg.shared import may_stretch, model_context
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.model_files import ModelFiles, by_name
from skyrl_doctor.plan.answers import TODAYS_PRIME
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.names.skyrl import DIALECT as SKYRL
from skyrl_train.config.releases import Span

CAUSE = "max_model_len exceeds the model's context"

KEYS = ("model.path", "rollout.max_model_len")

LOWER = "Lower the length that the line names to at most the model's context, or use a model with a longer one."

SIGNATURES = (
    Signature(
        pattern=r"User-specified max_model_len \((?P<asked>\d+)\) is greater than the derived max_model_len \(\w{1,40}=(?P<derived>\d{1,9})",
        sample="ValueError: User-specified max_model_len (4096) is greater than the derived max_model_len (max_position_embeddings=2048.0 or model_max_length=None in model's config.json).",
        explain="max_model_len {asked} exceeds the model's context of {derived} tokens",
        remedy="Lower `--max-model-len` (`{key:rollout.max_model_len}` of a trainer) to at most {derived}, or use a model with a longer context. If the model's card names a longer context, it needs `rope_scaling` in its config.json.",
        versions="vllm",
    ),
    Signature(
        pattern=r"is greater than the derived max_model_len",
        sample="ValueError: User-specified max_model_len (4096) is greater than the derived max_model_len (max_position_embeddings=2048.0 or model_max_length=None in model's config.json).",
        explain=CAUSE,
        remedy=LOWER,
        versions="vllm",
    ),
    Signature(
        pattern=r"User-specified (?:max_model_len|context_length) .{0,40}is greater than the derived|model context length should be greater than total sequence length",
        sample="AssertionError: model context length should be greater than total sequence length",
        explain=CAUSE,
        remedy=LOWER,
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
VERL = "verl"


PROMPT, LONGEST = "data.max_prompt_tokens", ("data.max_response_tokens", "rollout.max_tokens")
REFUSES = Span("", "0.7.0")
"""The releases of verl that assert that prompt and response fit."""


@check("CFG005", fix="skyrl_train/config/models.py")
def model_context_too_short(plan: Plan, model: ModelFiles | None) -> Iterator[Finding]:
    model = model or _named(required(plan))
    expected = plan.integer(KEY)
    has, label = model_context(model)
    if expected is None:
        yield from _beyond_own_length(plan, model, has, label)
    elif expected > has:
        yield config_finding(
            f"{plan.name(KEY)} is {expected}, but {model.name} has a context of {has} tokens; expected at most {has}",
            plan.place(KEY),
            plan.settings({KEY: str(has)}),
            severity=Severity.ERROR if model.config is not None else Severity.WARNING,
            evidence=(f"{label}: max_position_embeddings",),
        )


def _named(plan: Plan) -> ModelFiles:
    """The model where no machine is examined: a path that only the job knows says nothing there."""
    try:
        return by_name(plan)
    except CouldNotLook as reason:
        raise NotApplicable(f"no machine was examined, and the model is not known: {reason}") from None


def _beyond_own_length(plan: Plan, model: ModelFiles, has: int, label: str) -> Iterator[Finding]:
    """Prompt and response against the model's own length, which the engine takes without max_model_len."""
    key = next((key for key in LONGEST if plan.find(key)), None)
    prompt, response = plan.integer(PROMPT), plan.integer(key) if key else None
    if key is None or response is None or not plan.is_of(VERL, SKYRL, TODAYS_PRIME):
        raise NotApplicable("max_model_len is not set, so the model's own context length applies")
    if prompt is None and not plan.is_of(TODAYS_PRIME):
        raise NotApplicable("max_model_len is not set, so the model's own context length applies")
    if may_stretch(plan):
        raise NotApplicable("max_model_len is not set, and a setting may stretch the model's context")
    if prompt is None:
        yield from _call_beyond(plan, model, has, label, key=key, calls=response)
        return
    if prompt + response > has:
        release = plan.release
        severity = release.severity(REFUSES.holds) if release is not None and model.config is not None else None
        ends = "verl refuses to start" if severity is Severity.ERROR else f"replies are cut at {has}"
        yield config_finding(
            f"prompt {prompt} + response {response} = {prompt + response} tokens, but {model.name} has a context of {has} tokens "
            f"and {plan.name(KEY)} is not set; {ends}; expected a response of at most {max(0, has - prompt)}",
            plan.place(key),
            plan.settings({key: str(has - prompt)} if has > prompt else {}),
            severity=severity or Severity.WARNING,
            evidence=(f"{label}: max_position_embeddings",),
        )


def _call_beyond(plan: Plan, model: ModelFiles, has: int, label: str, *, key: str, calls: int) -> Iterator[Finding]:
    """A call that leaves no room for any prompt, where the configuration has no prompt's length."""
    if calls >= has:
        yield config_finding(
            f"{plan.name(key)} is {calls}, but {model.name} has a context of {has} tokens for prompt and reply together; "
            f"expected less than {has}",
            plan.place(key),
            severity=Severity.WARNING,
            evidence=(f"{label}: max_position_embeddings",),
        )
