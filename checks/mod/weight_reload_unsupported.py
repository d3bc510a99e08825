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

FORMAT = "Use the bf16 weights of the model instead of a quantised copy. If they are bf16 already, this vLLM and this framework do not fit: install the vLLM version that the framework's release names."
NAMES = "Compare the name with the model's own: a prefix (`base_model`, `_fsdp_wrapped_module`, `module`) means that the framework did not strip it for this model. Update the framework, or install the vLLM version that its release names."
LORA = "Merge the adapter before the weights are sent, or send it as an adapter: vLLM needs `enable_lora` and the framework its LoRA options (`{key:model.lora_rank}`). A framework older than the adapter's layout needs an update."

SIGNATURES = (
    Signature(
        pattern=r"(?:There is no module or parameter named '|KeyError: ['\"])(?P<name>(?:base_model\b|[\w.]{0,160}\b(?:lora_[AB]|base_layer)\b)[\w.]{0,120})",
        sample="ValueError: There is no module or parameter named 'base_model' in Qwen2ForCausalLM",
        explain="the trainer sent LoRA names (`{name}`) to vLLM, which expects the names of the plain model",
        remedy=LORA,
        versions="vllm, verl",
        keys=("model.lora_rank",),
    ),
    Signature(
        pattern=r"default_weight_loader\(\) got an unexpected keyword argument",
        sample="TypeError: default_weight_loader() got an unexpected keyword argument 'weight_name'",
        explain=CAUSE,
        remedy=FORMAT,
        versions="vllm",
    ),
    Signature(
        pattern=r"""KeyError: ['\"][\w.]{1,200}[._](?:weight|bias|weight_scale|absmax)['\"]""",
        sample="KeyError: 'visual.patch_embed.proj.weight'",
        explain=UNKNOWN_WEIGHTS,
        remedy=NAMES,
        versions="vllm, verl",
        near=WEIGHT_SYNC,
        within=40,
    ),
    Signature(
        pattern=r"(?:^\W{0,8}|\]:? |[-|\"] ?)AssertionError\W*$",
        sample="AssertionError",
        explain=UNKNOWN_WEIGHTS,
        remedy=NAMES,
        versions="vllm",
        near=r"assert [^\n]{0,80}(?:== loaded_weight\.|loaded_weight\.(?:shape|size)[^\n]{0,40} ==)",
        within=3,
    ),
    Signature(
        pattern=r"has no attribute 'weight_loader'|load_weights\(\) got an unexpected keyword|\bweight_loader\(\) (?:got an unexpected|missing \d)",
        sample="AttributeError: 'Parameter' object has no attribute 'weight_loader'",
        explain=CAUSE,
        remedy=FORMAT,
        versions="vllm, verl",
    ),
    Signature(
        pattern=r"There is no module or parameter named '[^']{1,120}' in \w+For|Attempted to load weight .{0,80}into parameter|[Ff]ollowing weights were not initialized from checkpoint",
        sample="ValueError: There is no module or parameter named 'model.vision' in Qwen2ForCausalLM",
        explain=UNKNOWN_WEIGHTS,
        remedy=NAMES,
        versions="vllm",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bweights?\b.{0,100}\b(?:unknown|unexpected|unmatched) (?:parameter|weight|key|tensor)|\b(?:vllm|engine)\b.{0,60}\b(?:does not|cannot|can't|failed to) (?:accept|reload|load)\b.{0,40}\bweights\b",
    sample="RuntimeError: vLLM does not accept the trainer's weights: unknown parameter model.layers.0.mlp.gate",
    explain=CAUSE,
    remedy=FORMAT,
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
