"""The run was stopped with `skyrl-train stop`.

## What it does
Finds the line that both jobs of a launch write when `skyrl-train stop` ends them.

## Why it breaks training
It does not: a user with your user id ended the run on purpose. Work since the last checkpoint is lost.

## How to fix
Launch again. With `trainer.resume = "auto"` the run continues from its last checkpoint; `skyrl-train status` names it.

## Example
    skyrl-train job: trainer: stopped by signal 15: stopped with `skyrl-train stop` by alice on login1
"""

from skyrl_doctor.core.signature import Signature

SIGNATURES = (
    Signature(
        pattern=r"\bskyrl-train job: (?:trainer|runtime): stopped by signal \d+: stopped with `skyrl-train stop` by (?P<user>\S{1,64}) on (?P<host>\S{1,64})",
        sample="skyrl-train job: trainer: stopped by signal 15: stopped with `skyrl-train stop` by alice on login1",
        explain="{user} stopped the run with `skyrl-train stop` on {host}",
        remedy="Launch again to continue: the run resumes from its last checkpoint, which `skyrl-train status` names.",
        versions="skyrl-train",
        last_resort=True,
        refines=("SLM011",),
    ),
)
