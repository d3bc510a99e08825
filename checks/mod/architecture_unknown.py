"""The installed transformers does not know this kind of model.

## What it does
Looks for `model_type` of the model's config.json among the types that the training interpreter's transformers has.
(vLLM's own list is not looked at: it takes many types by transformers' word.)

## Why it breaks training
The configuration does not load. A newer model wants a newer transformers, which verl and vLLM may not allow.

## How to fix
Bring transformers up to date as far as verl and vLLM allow, or take another model.

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
from skyrl_doctor.plan.findings import fault
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import model_type

SIGNATURES = (
    Signature(
        pattern=r"\bdoes not recognize this architecture|Model architectures \[.{1,120}\] are not supported",
        sample="ValueError: The checkpoint you are trying to load has model type `ministral3` but Transformers does not recognize this architecture.",
        explain="the installed library is older than the model",
        versions="transformers, vllm",
    ),
    Signature(
        pattern=r"KeyError: 'ministral3'",
        sample="KeyError: 'ministral3'",
        explain="the installed transformers is older than the model",
        versions="transformers",
    ),
    Signature(
        pattern=r"(?:^\W{0,8}|\]:? |[-|\"] ?)KeyError: '[a-z][a-z0-9_]+'$",
        sample="KeyError: 'newmodel2'",
        explain="the installed transformers is older than the model",
        versions="transformers",
        near=r"CONFIG_MAPPING|configuration_auto\.py",
        within=20,
    ),
)


KEY = "model.path"


@check("MOD004", fix="skyrl_train/config/models.py")
def architecture_unknown(plan: Plan, model: ModelFiles, known: ModelTypes) -> Iterator[Finding]:
    kind = model_type(model.config) if model.config is not None else None
    if kind is None:
        raise NotApplicable(f"{model.name} has no config.json on this machine that names a model_type")
    if model.config is not None and "auto_map" in model.config:
        raise NotApplicable(f"{model.name} brings its own code")
    if kind not in known.types:
        yield fault(
            f"model_type {kind!r} of {model.name} is unknown to the transformers of {known.python}; wanted one of its {len(known.types)} types",
            plan.place(KEY),
            summary="choose another model, or a newer transformers",
            evidence=(f"{model.shown}: model_type",),
        )
