"""The program that reads this configuration would refuse it, or would not see what was meant.

## What it does
Tells everything in a target that its own program would stumble over: unknown settings and wrong types of a RunConfig,
rules between its settings, overrides that Hydra refuses, keys of an older verl, lines that a comment cut off from their
command, values that depend on a command or on a variable that is not set. All of them, each at its line.

## Why it breaks training
The programs stop at the first fault, after the queue and often after minutes of start-up. An override that never
reached verl is worse: the run goes on with a default.

## How to fix
Change the lines that the findings name; a close name is suggested where there is one.

## Example
    Could not override 'data.train_batchsize'. To append to your config use +data.train_batchsize=4
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.plan.findings import fault, required
from skyrl_doctor.plan.model import Plan


@check("CFG004", fix="skyrl_train/config/load.py")
def config_unreadable(plan: Plan) -> Iterator[Finding]:
    for problem in required(plan).problems:
        severity = Severity.ERROR if problem.fatal else Severity.WARNING
        yield fault(problem.message, problem.location, problem.settings, severity=severity)
