"""vLLM cannot take new weights for this model while it runs.

## What it does
Recognises gpt-oss with MXFP4 weights, by its config.json, or by its name where that is not on this machine.

## Why it breaks training
RL gives the model server new weights after each step. The loader of these quantised weights works once; the first
update ends the run.

## How to fix
Take another model, or a copy of this one in bf16.

## Example
    TypeError: default_weight_loader() got an unexpected keyword argument 'weight_name'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.findings import fault
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import cannot_reload

SIGNATURES = (
    Signature(
        pattern=r"default_weight_loader\(\) got an unexpected keyword argument",
        sample="TypeError: default_weight_loader() got an unexpected keyword argument 'weight_name'",
        explain="vLLM cannot reload this model's weights",
        versions="vllm",
    ),
)


KEY = "model.path"


@check("MOD001", fix="skyrl_train/config/models.py")
def weight_reload_unsupported(plan: Plan, model: ModelFiles) -> Iterator[Finding]:
    if cannot_reload(model.name, model.config):
        yield fault(
            f"{model.name} has MXFP4 weights, which vLLM loads once only; wanted weights in bf16",
            plan.place(KEY),
            summary="choose another model, or its bf16 weights",
            evidence=(f"seen in {model.shown}",),
        )
