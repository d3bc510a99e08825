"""vLLM cannot reload the weights of this model.

## What it does
Recognises gpt-oss with MXFP4 weights, by its config.json, or by its name if the file is not on this machine.

## Why it breaks training
RL sends the model server new weights after each step. The loader of these quantised weights works once; the first
update ends the run.

## How to fix
Use another model, or a copy of this one in bf16.

## Example
    TypeError: default_weight_loader() got an unexpected keyword argument 'weight_name'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import cannot_reload

WEIGHT_SYNC = r"update_(?:params|weights)|sharding_manager|receive_weights|sync_weights|weight_transfer|weight_sync"
CAUSE = "vLLM cannot reload this model's weights"
UNKNOWN_WEIGHTS = "vLLM does not know the names or shapes of the weights that the trainer sends"

SIGNATURES = (
    Signature(
        pattern=r"default_weight_loader\(\) got an unexpected keyword argument",
        sample="TypeError: default_weight_loader() got an unexpected keyword argument 'weight_name'",
        explain=CAUSE,
        versions="vllm",
    ),
    Signature(
        pattern=r"""KeyError: ['\"][\w.]{1,200}[._](?:weight|bias|weight_scale|absmax)['\"]""",
        sample="KeyError: 'visual.patch_embed.proj.weight'",
        explain=UNKNOWN_WEIGHTS,
        versions="vllm, verl",
        near=WEIGHT_SYNC,
        within=40,
    ),
    Signature(
        pattern=r"(?:^\W{0,8}|\]:? |[-|\"] ?)AssertionError\W*$",
        sample="AssertionError",
        explain=UNKNOWN_WEIGHTS,
        versions="vllm",
        near=r"assert [^\n]{0,80}(?:== loaded_weight\.|loaded_weight\.(?:shape|size)[^\n]{0,40} ==)",
        within=3,
    ),
    Signature(
        pattern=r"has no attribute 'weight_loader'|load_weights\(\) got an unexpected keyword|\bweight_loader\(\) (?:got an unexpected|missing \d)",
        sample="AttributeError: 'Parameter' object has no attribute 'weight_loader'",
        explain=CAUSE,
        versions="vllm, verl",
    ),
    Signature(
        pattern=r"There is no module or parameter named '[^']{1,120}' in \w+For|Attempted to load weight .{0,80}into parameter|[Ff]ollowing weights were not initialized from checkpoint",
        sample="ValueError: There is no module or parameter named 'base_model' in Qwen2ForCausalLM",
        explain=CAUSE,
        versions="vllm",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bweights?\b.{0,100}\b(?:unknown|unexpected|unmatched) (?:parameter|weight|key|tensor)|\b(?:vllm|engine)\b.{0,60}\b(?:does not|cannot|can't|failed to) (?:accept|reload|load)\b.{0,40}\bweights\b",
    sample="RuntimeError: vLLM does not accept the trainer's weights: unknown parameter model.layers.0.mlp.gate",
    explain=CAUSE,
    versions="any",
)

KEY = "model.path"


@check("MOD001", fix="skyrl_train/config/models.py")
def weight_reload_unsupported(plan: Plan, model: ModelFiles) -> Iterator[Finding]:
    if cannot_reload(model.name, model.config):
        yield config_finding(
            f"{model.name} has MXFP4 weights, which vLLM can load only once; expected bf16 weights",
            plan.place(KEY),
            summary="choose another model or its bf16 weights",
            evidence=(f"found in {model.label}",),
        )
