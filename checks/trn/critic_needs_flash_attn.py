"""verl's critic needs flash-attn, which is not installed.

## What it does
Finds a critic that verl loads with FSDP (`algorithm.adv_estimator=gae` or `critic.enable=True`) if the training
interpreter has verl, but not flash-attn.

## Why it breaks training
verl loads each value model with `flash_attention_2`, whatever `attn_implementation` is. transformers refuses that without
flash-attn. verl then tries the value model of trl, so the last error names trl, and the run dies before its first step.

## How to fix
Install flash-attn for the installed torch. Or train without a critic (`algorithm.adv_estimator=grpo`). Or use the engine of
skyrl_train, which keeps to the configured attention: `critic.model._target_=skyrl_train.rl.value_model.ValueModelConfig` with
`+critic.model.override_config.attn_implementation=sdpa` and `critic.model.use_remove_padding=False`. `skyrl-train launch`
sets all three.

## Example
    RuntimeError: model(Qwen/Qwen2.5-7B) is not a value head model, please install trl to make it valid
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.interpreter import Interpreter
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan

SIGNATURES = (
    Signature(
        pattern=r"is not a value head model, please install trl to make it valid",
        sample="RuntimeError: model(Qwen/Qwen2.5-7B) is not a value head model, please install trl to make it valid",
        explain="verl could not load the critic, because flash-attn is not installed; installing trl does not help",
        versions="verl 0.4-0.9.1",
    ),
)

VERL, ADVANTAGE = "verl", "algorithm.advantage"
ENABLE, STRATEGY, MODEL_CLASS = "critic.enable", "critic.strategy", "critic.model._target_"
CURE = "skyrl_train.rl.value_model.ValueModelConfig"


@check("TRN020", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/rl/value_model.py")
def critic_needs_flash_attn(plan: Plan, interpreter: Interpreter) -> Iterator[Finding]:
    if not required(plan).is_of(VERL) or not _has_critic(plan):
        raise NotApplicable("the configuration trains no critic with plain verl")
    if _own(plan, STRATEGY) not in (None, "fsdp", "fsdp2") or _own(plan, MODEL_CLASS) == CURE:
        raise NotApplicable("verl's own FSDP engine does not load the critic")
    verl = interpreter.packages.get("verl")
    if verl is None:
        raise NotApplicable(f"{interpreter.python.label} has no verl")
    if "flash-attn" not in interpreter.packages:
        yield config_finding(
            f"verl {verl} always loads the critic with flash_attention_2, but {interpreter.python.label} has no flash-attn; expected flash-attn, or no critic",
            plan.place(ADVANTAGE),
            summary=f"install flash-attn, use an estimator without a critic, or set {MODEL_CLASS}={CURE}",
        )


def _has_critic(plan: Plan) -> bool:
    enabled = _own(plan, ENABLE)
    return enabled if isinstance(enabled, bool) else plan.text(ADVANTAGE) == "gae"


def _own(plan: Plan, key: str) -> object:
    found = plan.own.get(key)
    return None if found is None or found.unknown else found.value
