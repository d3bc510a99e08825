"""Whether a run uses what an advisory about a version is about (ENV017)."""

from collections.abc import Mapping
from typing import Any

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.plan.answers import merges_adapter
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.parallel import own_integer
from skyrl_train.config.models import sees_images
from skyrl_train.node.advisories import Advisory

_SIZES = {"expert_parallel": "expert_parallel_size", "pipeline_parallel": "pipeline_model_parallel_size"}


def applies(
    advisory: Advisory, packages: Mapping[str, str], plan: Plan, name: str | None, config: Mapping[str, Any] | None
) -> bool | None:
    """Whether the run uses it; None if that is not known. `name` and `config` are the model's."""
    if advisory.model:
        return None if name is None else advisory.model in name.lower()
    match advisory.scope:
        case "":
            return True
        case "rocm":
            return "+rocm" in packages.get("torch", "")
        case "vision":
            return None if name is None else sees_images(name, config)
    return _uses(advisory.scope, plan) if plan else None


def bad_versions(advisory: Advisory, packages: Mapping[str, str]) -> str:
    """`vllm 0.8.2 with verl 0.5.0: …`, the sentence of a finding."""
    names = (advisory.package, *advisory.using)
    return f"{' with '.join(f'{name} {packages[name]}'.strip() for name in names)}: {advisory.reason}"


def _uses(scope: str, plan: Plan) -> bool | None:
    try:
        match scope:
            case "lora":
                return (plan.integer("model.lora_rank") or 0) > 0 and not merges_adapter(plan)
            case "sleep":
                return plan.flag("rollout.free_cache_engine") is not False
    except CouldNotLook:
        return None
    size = own_integer(plan, f"actor_rollout_ref.rollout.{_SIZES[scope]}")
    return None if size is None else size > 1
