"""Trainer and inference are to share a GPU, which prime-rl's launcher no longer does.

## What it does
In today's schema, adds `num_infer_gpus` and `num_train_gpus` and holds the sum against the GPUs of the node.

## Why it breaks training
Since 2026-02-24 the `rl` launcher gives each of the two GPUs of its own, and stops where there are too few.

## How to fix
Ask for as many GPUs as both need. On a single GPU, start `inference`, `orchestrator` and `trainer` by hand.

## Example
    Requested 2 GPUs via deployment settings, but only 1 physical GPU(s) are available: [0]
"""

from collections.abc import Iterator

from checks.prm.shared import prime_only
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.plan.dialects.prime import TODAY
from skyrl_doctor.plan.findings import fault
from skyrl_doctor.plan.model import Plan

KEYS = ("deployment.inference_gpus", "deployment.trainer_gpus")


@check("PRM008", fix="operator: prime-rl's launcher decides where its parts run")
def one_gpu_cannot_be_shared(plan: Plan) -> Iterator[Finding]:
    inference, trainer = (prime_only(plan, schema=TODAY).integer(key) or 0 for key in KEYS)
    available = plan.integer("slurm.gpus_per_node")
    if available is None or inference + trainer <= available:
        return
    yield fault(
        f"{inference} GPU(s) for inference and {trainer} for the trainer make {inference + trainer}; the node has {available}; wanted at least {inference + trainer}",
        plan.place("slurm.gpus_per_node"),
        {plan.name("slurm.gpus_per_node"): str(inference + trainer)},
    )
