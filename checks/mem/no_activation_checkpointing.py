"""Activation checkpointing is off on a GPU that is shared with vLLM.

## What it does
Checks that the trainer recomputes activations in the backward pass (verl's `enable_gradient_checkpointing`,
prime-rl's `trainer.model.ac`) if it shares its GPU with vLLM. verl's trainer always shares it; prime-rl's did while
its lists of GPUs could overlap. A run that keeps its weights on the host is not checked.

## Why it breaks training
Without checkpointing every layer's activations stay until the backward pass: some 20 GB for a 7B model at 2,048
tokens, in addition to vLLM's share. The rollouts succeed, and the first step runs out of memory.

## How to fix
Turn it on: `actor_rollout_ref.model.enable_gradient_checkpointing=True`, `[trainer.model.ac]` with `freq = 1`. It
costs about a third more compute in the step.

## Example
    torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location, Severity
from skyrl_doctor.plan.answers import PRIME, trainer_shares_gpu
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan

TABLE_VALUE = "{ freq = 1 }"
"""prime-rl's word for on."""
KEY, TABLE, OFFLOAD = "model.gradient_checkpointing", "trainer.model", "actor.cpu_offload"


@check("MEM004", fix="skyrl_train/config/sections/model.py")
def no_activation_checkpointing(plan: Plan) -> Iterator[Finding]:
    if not trainer_shares_gpu(required(plan)):
        raise NotApplicable("the trainer and vLLM use different GPUs")
    said = plan.find(KEY)
    if plan.flag(KEY) is not False or said is None or plan.flag(OFFLOAD):
        return
    name = plan.name(KEY)
    how = "off" if said.written else "off by default"
    message = f"{name} is {how} on a GPU that the trainer shares with vLLM; expected on"
    value = TABLE_VALUE if plan.is_of(*PRIME) else "true"
    settings = {name: value} if said.written else {}
    yield config_finding(message, _place(plan), settings, summary=f"set {name} = {value}", severity=Severity.WARNING)


def _place(plan: Plan) -> Location | None:
    """Its own line, or that of the table in which it is missing."""
    said, table = plan.find(KEY), plan.own.get(TABLE)
    missing = said is not None and not said.written and table is not None
    return table.location if table is not None and missing else plan.place(KEY)
