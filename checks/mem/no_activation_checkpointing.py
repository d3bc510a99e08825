"""The trainer keeps all activations on a GPU that it shares with vLLM.

## What it does
Looks whether the trainer recomputes activations in the backward pass (verl's `enable_gradient_checkpointing`, prime-rl's
`trainer.model.ac`) where it shares its GPU with vLLM: verl's trainer always does, prime-rl's did while the lists of GPUs
could overlap. A run that keeps its weights on the host is left alone.

## Why it breaks training
Without checkpointing every layer's activations stay until the backward pass: some 20 GB for a 7B model at 2,048 tokens,
on top of vLLM's share. The rollouts go well, and the first step runs out of memory.

## How to fix
Turn it on: `actor_rollout_ref.model.enable_gradient_checkpointing=True`, `[trainer.model.ac]` with `freq = 1`. It costs
about a third more compute in the step.

## Example
    torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location, Severity
from skyrl_doctor.plan.answers import trainer_shares_gpu
from skyrl_doctor.plan.findings import fault, required
from skyrl_doctor.plan.model import Plan

KEY, TABLE, OFFLOAD = "model.gradient_checkpointing", "trainer.model", "actor.cpu_offload"


@check("MEM004", fix="skyrl_train/config/sections/model.py")
def no_activation_checkpointing(plan: Plan) -> Iterator[Finding]:
    if not trainer_shares_gpu(required(plan)):
        raise NotApplicable("the trainer and vLLM have GPUs of their own")
    said = plan.find(KEY)
    if plan.flag(KEY) is not False or said is None or plan.flag(OFFLOAD):
        return
    name = plan.name(KEY)
    how = "off" if said.written else "off unless told otherwise"
    message = f"{name} is {how} on a GPU that the trainer shares with vLLM; wanted on"
    settings = {name: "true"} if said.written else {}
    yield fault(message, _place(plan), settings, summary=f"turn {name} on", severity=Severity.WARNING)


def _place(plan: Plan) -> Location | None:
    """Its own line, or that of the table in which it is missing."""
    said, table = plan.find(KEY), plan.own.get(TABLE)
    missing = said is not None and not said.written and table is not None
    return table.location if table is not None and missing else plan.place(KEY)
