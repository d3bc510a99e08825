"""An installed version is known to be bad for this run.

## What it does
Compares the packages of the training interpreter with a list of bad versions, each from a maintainer's word in a public
thread. An advisory about LoRA, vision models or expert parallel counts only for a run that uses it; without a
configuration it is a note.

## Why it breaks training
Such a combination installs without a complaint. It fails at the start or, worse, trains on wrong rollouts.

## How to fix
Install the version in the finding. The evidence names the thread.

## Example
    ImportError: cannot import name 'AutoModelForVision2Seq' from 'transformers'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.interpreter import Interpreter
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.parallel import own_integer
from skyrl_train.config.models import sees_images
from skyrl_train.node.advisories import Advisory, advisories_for

STACK = ("verl", "vllm", "sglang", "torch", "transformers", "ray")


@check(
    "ENV017",
    roles=[Role.GPU, Role.LOGIN],
    fix="skyrl_train/node/advisories.py",
)
def known_bad_version(plan: Plan, interpreter: Interpreter, model: ModelFiles | None) -> Iterator[Finding]:
    if not any(name in interpreter.packages for name in STACK):
        raise NotApplicable(f"{interpreter.python.path} has none of {', '.join(STACK)}")
    for advisory in advisories_for(interpreter.packages):
        counts = _counts(advisory, plan, interpreter, model)
        if counts is not False:
            severity = Severity.INFO if counts is None else Severity[advisory.severity.upper()]
            yield _finding(advisory, interpreter, severity)


def _counts(advisory: Advisory, plan: Plan, interpreter: Interpreter, model: ModelFiles | None) -> bool | None:
    """Whether the run uses what the advisory is about; None if that is not known."""
    name = model.name if model is not None else None
    if advisory.model:
        return None if name is None else advisory.model in name.lower()
    match advisory.scope:
        case "":
            return True
        case "rocm":
            return "+rocm" in interpreter.packages.get("torch", "")
        case "vision":
            return None if model is None or name is None else sees_images(name, model.config)
    return _uses(advisory.scope, plan) if plan else None


def _uses(scope: str, plan: Plan) -> bool | None:
    try:
        match scope:
            case "lora":
                return (plan.integer("model.lora_rank") or 0) > 0
            case "sleep":
                return plan.flag("rollout.free_cache_engine") is not False
    except CouldNotLook:
        return None
    size = own_integer(plan, f"actor_rollout_ref.rollout.{_SIZES[scope]}")
    return None if size is None else size > 1


_SIZES = {"expert_parallel": "expert_parallel_size", "pipeline_parallel": "pipeline_model_parallel_size"}


def _finding(advisory: Advisory, interpreter: Interpreter, severity: Severity) -> Finding:
    names = (advisory.package, *advisory.using)
    installed = " with ".join(f"{name} {interpreter.packages[name]}" for name in names)
    return Finding(
        message=f"{installed}: {advisory.reason}",
        evidence=(advisory.thread,),
        severity=severity,
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary=advisory.fix),
    )
