"""A sandbox gets less time to answer than its first start takes.

## What it does
Adds up what the slowest first start takes: the start itself, a pull where images are not in the store, a build where the
agent server is built in; and compares it with `sandbox.ready_timeout_s`.

## Why it breaks training
A runtime that gives up while an image is still being built loses every rollout of the first step, and the build with
it: the next try begins anew. The notes' runtime gave 60 s to builds of two to five minutes.

## How to fix
Raise the limit, or fetch and build the images before the job (`skyrl-train images`).

## Example
    Runtime slurm-37564a5a3dca failed to become ready within 60s
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.image_words import inject_of
from skyrl_doctor.plan.findings import finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.sandbox.agent_server import REPOSITORY
from skyrl_train.sandbox.ready import KEY, ready_violations


@check("RUN003", fix="skyrl_train/sandbox/ready.py")
def ready_timeout_too_short(plan: Plan, stored: StoredImages | None) -> Iterator[Finding]:
    limit_s = required(plan).number(KEY)
    if limit_s is None:
        raise NotApplicable("the configuration gives sandboxes no time limit")
    derived = stored is not None and any(name.startswith(f"{REPOSITORY}:") for name in stored.all_names)
    built = inject_of(plan) == "build" and not derived
    absent = stored is None or not stored.of_dataset or bool(stored.absent)
    for violation in ready_violations(limit_s=limit_s, absent=absent, built=built):
        yield finding(plan, violation)
