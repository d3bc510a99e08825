"""The runtime job ends before the training that needs it.

## What it does
Compares the time limits of the two jobs. A limit that Slurm could not read is a finding too.

## Why it breaks training
The sandboxes die in the middle of a rollout, and the trainer sees refused connections until its own end.

## How to fix
Give the runtime job at least the time of the trainer.

## Example
    CANCELLED AT 2026-01-22T23:02:11 DUE TO TIME LIMIT
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.verdicts import fault, finding, required
from skyrl_train.config.walltime import minutes, walltime_violations

SIGNATURES = (
    Signature(
        pattern=r"\bDUE TO TIME LIMIT\b",
        sample="slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-01-15T16:00:12 DUE TO TIME LIMIT ***",
        explain="the job's wall time was over",
        versions="slurm",
    ),
)


TRAINER, RUNTIME = "slurm.trainer_time_limit", "slurm.runtime_time_limit"


@check("SLM001", fix="skyrl_train/config/walltime.py")
def walltime_mismatch(plan: Plan) -> Iterator[Finding]:
    if required(plan).find("sandbox.runtime_url"):
        raise NotApplicable("the configuration uses a runtime that runs already")
    limits = {key: text for key in (TRAINER, RUNTIME) if (text := plan.text(key)) is not None}
    if not limits:
        raise NotApplicable("the configuration sets no time limit")
    wrong = {key: text for key, text in limits.items() if minutes(text) is None}
    for key, text in wrong.items():
        yield fault(
            f"{plan.name(key)} = {text!r} is no time of Slurm; wanted such as 6:00:00",
            plan.place(key),
            plan.settings({key: "6:00:00"}),
        )
    if len(limits) == 2 and not wrong:
        for violation in walltime_violations(trainer=limits[TRAINER], runtime=limits[RUNTIME]):
            yield finding(plan, violation)
