"""More rollouts at once than the runtime node has sandboxes for.

## What it does
Works out the worker slots, (CPUs - reserved) / CPUs of a sandbox and memory / memory of a sandbox, and holds them
against the rollouts that run at once: prompts times trajectories, or the agent's own limit.

## Why it breaks training
Sandboxes beyond the slots are refused; a client that does not wait loses its rollout. Without one slot nothing runs.

## How to fix
Lower the rollouts that run at once, take smaller sandboxes, or give the runtime job more CPUs.

## Example
    No available worker slots
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.slots import RESERVED_CPUS, memory_slots, slot_violations, worker_slots

SIGNATURES = (
    Signature(
        pattern=r"\b[Nn]o available (?:worker |sandbox |runtime )?slots?\b",
        sample="No available worker slots",
        explain="more sandboxes were asked for at once than the runtime has slots",
        versions="runtime server",
        refines=("RUN010",),
    ),
)


@check("RUN005", fix="skyrl_train/config/slots.py")
def no_worker_slots(plan: Plan) -> Iterator[Finding]:
    if required(plan).find("sandbox.runtime_url"):
        raise NotApplicable("the configuration uses a runtime that runs already")
    cpus, per_sandbox = plan.integer("slurm.runtime_cpus"), plan.integer("sandbox.cpus")
    batch, n = plan.integer("data.train_batch_size"), plan.integer("rollout.n")
    if cpus is None or per_sandbox is None or batch is None or n is None:
        raise NotApplicable("the configuration has no runtime job")
    reserved = plan.integer("sandbox.reserved_cpus")
    slots = worker_slots(
        cpus=cpus, reserved_cpus=RESERVED_CPUS if reserved is None else reserved, cpus_per_sandbox=per_sandbox
    )
    memory, each = plan.integer("slurm.runtime_memory_mib"), plan.integer("sandbox.memory_mib")
    if memory is not None and each is not None:
        slots = min(slots, memory_slots(memory_mib=memory, memory_per_sandbox_mib=each))
    parallel = plan.integer("agent.max_parallel")
    for violation in slot_violations(slots=slots, batch=batch, n=n, parallel=parallel):
        yield finding(plan, violation)
