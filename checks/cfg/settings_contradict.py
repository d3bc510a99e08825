"""verl refuses a combination of settings, or misses one that it needs.

## What it does
Applies the rules of verl's `validate_config` and of its dataclasses that join several settings, in the release of the run:
micro batches that are set twice or not at all, sequence parallelism without `use_remove_padding`, validation that samples at
temperature 0, parallel sizes of the rollout, adapters that vLLM cannot serve. Whether batches divide is CFG002's.

## Why it breaks training
verl raises when it starts, after the queue, or when its workers start, after Ray.

## How to fix
Change or remove the setting that the finding names.

## Example
    ValueError: [actor] You have set both 'actor.ppo_micro_batch_size' AND 'actor.ppo_micro_batch_size_per_gpu'.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.parallel import own_value
from skyrl_train.config.verl_refusals import RULES

SIGNATURES = (
    Signature(
        pattern=r"\] You have set both '(?P<total>[\w.]{1,120})' AND '(?P<per_gpu>[\w.]{1,120})'",
        sample="ValueError: [actor] You have set both 'actor.ppo_micro_batch_size' AND 'actor.ppo_micro_batch_size_per_gpu'. Please remove 'actor.ppo_micro_batch_size'",
        explain="`{total}` and `{per_gpu}` are both set, and verl takes one of them",
        remedy="Remove `{total}`.",
        versions="verl",
    ),
    Signature(
        pattern=r"\] Please set at least one of '(?P<total>[\w.]{1,120})' or '(?P<per_gpu>[\w.]{1,120})'",
        sample="ValueError: [actor_rollout_ref.rollout] Please set at least one of 'actor_rollout_ref.rollout.log_prob_micro_batch_size' or 'actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu'.",
        explain="neither `{total}` nor `{per_gpu}` is set",
        remedy="Set `{per_gpu}` to the sequences that one GPU takes at once, or turn dynamic batches on.",
        versions="verl",
    ),
    Signature(
        pattern=r"using sequence parallelism for (?:actor/ref policy|critic), you must enable `use_remove_padding`",
        sample="ValueError: When using sequence parallelism for actor/ref policy, you must enable `use_remove_padding`.",
        explain="sequence parallelism is on, but `use_remove_padding` is off",
        remedy="Set `{key:model.remove_padding}=True`, or a sequence parallel size of 1.",
        keys=("model.remove_padding",),
        versions="verl",
    ),
    Signature(
        pattern=r"validation gen temperature should be greater than 0|Rollout mode 'sync' has been removed|not implemented pipeline_model_parallel_size > 1",
        sample="AssertionError: validation gen temperature should be greater than 0 when enabling do_sample",
        explain="verl refuses a setting of the rollout",
        remedy="Change the setting that the line names; `skyrl-doctor preflight FILE` names it with its line (CFG012).",
        versions="verl",
    ),
)


@check("CFG012", fix="skyrl_train/config/verl_refusals.py")
def settings_contradict(plan: Plan) -> Iterator[Finding]:
    release = required(plan).release
    if release is None:
        raise NotApplicable("the configuration is not that of one of verl's own trainers")

    def own(key: str) -> object:
        found = own_value(plan, key)
        return None if found is None else found.value

    for rule in RULES:
        severity = release.severity(rule.span.holds)
        if severity is None or any(found.unknown for key in rule.reads if (found := plan.own.get(key))):
            continue
        for refusal in rule.judge(own):
            message = f"{refusal.message}{release.taking(rule.span.holds)}"
            found = plan.own.get(refusal.key)
            location = (
                found.location if found is not None and found.location is not None else _target(plan, refusal.key)
            )
            yield config_finding(message, location, refusal.settings, removes=refusal.removes, severity=severity)


def _target(plan: Plan, key: str) -> Location:
    return Location(plan.targets[-1], None, key)
