"""An installed version is known to be bad for this run.

## What it does
Compares the packages of the training interpreter with a list of bad versions, each from a maintainer's word in a public
thread. An advisory about LoRA, vision models or expert parallel counts only for a run that uses it; without a
configuration it is a note. `diagnose` does the same with the versions that a log of a failed run names.

## Why it breaks training
Such a combination installs without a complaint. It fails at the start or, worse, trains on wrong rollouts.

## How to fix
Install the version in the finding. The evidence names the thread.

## Example
    ImportError: cannot import name 'AutoModelForVision2Seq' from 'transformers'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.interpreter import Interpreter
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.advisories import applies, bad_versions
from skyrl_doctor.plan.model import Plan
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
    name, config = (None, None) if model is None else (model.name, model.config)
    for advisory in advisories_for(interpreter.packages):
        counts = applies(advisory, interpreter.packages, plan, name, config)
        if counts is not False:
            severity = Severity.INFO if counts is None else Severity[advisory.severity.upper()]
            yield _finding(advisory, interpreter, severity)


def _finding(advisory: Advisory, interpreter: Interpreter, severity: Severity) -> Finding:
    return Finding(
        message=bad_versions(advisory, interpreter.packages),
        evidence=(advisory.thread,),
        severity=severity,
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary=advisory.fix),
    )
