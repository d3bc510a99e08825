"""prime-rl's launcher does not share a GPU between trainer and inference.

## What it does
In the current schema, adds `num_infer_gpus` and `num_train_gpus` and compares the sum with the GPUs of the node.

## Why it breaks training
Since 2026-02-24 the `rl` launcher gives trainer and inference separate GPUs, and stops if there are too few.

## How to fix
Request as many GPUs as both need. On a single GPU, start `inference`, `orchestrator` and `trainer` by hand.

## Example
    Requested 2 GPUs via deployment settings, but only 1 physical GPU(s) are available: [0]
"""

from collections.abc import Iterator

from checks.prm.shared import prime_only
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.dialect import TODAY

KEYS = ("deployment.inference_gpus", "deployment.trainer_gpus")


@check("PRM008", fix="operator: prime-rl's launcher decides where its parts run")
def one_gpu_cannot_be_shared(plan: Plan) -> Iterator[Finding]:
    inference, trainer = (prime_only(plan, schema=TODAY).integer(key) or 0 for key in KEYS)
    available = plan.integer("slurm.gpus_per_node")
    if available is None or inference + trainer <= available:
        return
    places, total = [plan.name(key) for key in KEYS], plan.name("slurm.gpus_per_node")
    fits = available - trainer
    fewer = f"use {places[0]} = {fits}, or set" if fits > 0 else "set"
    yield config_finding(
        f"{inference} GPU(s) for inference + {trainer} for the trainer = {inference + trainer}, but the node has {available}; expected at least {inference + trainer}",
        plan.place("slurm.gpus_per_node"),
        summary=f"{fewer} {total} to the number of your nodes, if they have {inference + trainer} or more",
    )
