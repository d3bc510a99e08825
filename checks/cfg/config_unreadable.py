"""The program that reads this configuration would reject it or ignore a part of it.

## What it does
Reports everything in a target that its own program would reject or misread: unknown settings and wrong types of a
RunConfig, rules between its settings, keys, types and bounds of prime-rl's own classes, overrides that Hydra rejects,
keys of an older verl, lines that a comment cuts off from their command, and values that depend on a command or on an
unset variable. Each finding names its line.

## Why it breaks training
The programs stop at the first error, after the queue and often after minutes of start-up. An override that never
reaches verl is worse: the run continues with a default.

## How to fix
Change the lines that the findings name. If a similar key exists, the finding suggests it.

## Example
    Could not override 'data.train_batchsize'. To append to your config use +data.train_batchsize=4
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.prime_renames import judged_by_name


@check("CFG004", fix="skyrl_train/config/load.py")
def config_unreadable(plan: Plan) -> Iterator[Finding]:
    if required(plan).skipped and not plan.problems:
        raise NotApplicable("; ".join(plan.skipped))
    if plan.unchecked and not any(problem.fatal for problem in plan.problems):
        raise CouldNotLook("; ".join(plan.unchecked))
    judged_elsewhere = judged_by_name(plan)
    for problem in plan.problems:
        key = problem.location.key or ""
        if not problem.fatal and judged_elsewhere(key):
            continue
        severity = Severity.ERROR if problem.fatal else Severity.INFO if problem.is_note else Severity.WARNING
        yield config_finding(
            problem.message,
            problem.location,
            problem.settings,
            summary=problem.remedy,
            severity=severity,
            moves=problem.moves,
        )
    for reason in plan.unchecked:
        yield config_finding(
            reason, None, summary="run preflight in a checkout of that program", severity=Severity.WARNING
        )
