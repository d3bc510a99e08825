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

from checks.vocabulary import NOT_ENOUGH
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.slots import RESERVED_CPUS, memory_slots, slot_violations, worker_slots

TAKEN = r"(?:exhausted|used up|full|all taken|all busy|in use|busy|taken|occupied)"
CAUSE = "more sandboxes were asked for at once than the runtime has slots"

SIGNATURES = (
    Signature(
        pattern=r"\b[Nn]o available (?:worker |sandbox |runtime )?slots?\b",
        sample="No available worker slots",
        explain=CAUSE,
        versions="runtime server",
        refines=("RUN010",),
    ),
    Signature(
        pattern=r"429 Too Many Requests' for url '\S{1,200}:\d{4,5}/(?:start|sessions?|runtime)\b|/(?:start|sessions?|runtime)\S{0,80} HTTP/1\.1\" 429\b",
        sample="httpx.HTTPStatusError: Client error '429 Too Many Requests' for url 'http://node07:8000/start'",
        explain=CAUSE,
        versions="httpx, uvicorn",
        refines=("IMG009",),
    ),
    Signature(
        pattern=r"\b[Nn]o (?:free|more) (?:worker |sandbox |runtime )?slots?\b|\b[Nn]o (?:worker|sandbox|runtime) slots?\b|\b[Aa]ll (?:\d+ )?(?:worker |sandbox )?slots (?:are )?(?:busy|in use|taken)|(?:[Rr]untime|[Ss]erver) (?:is )?at (?:full )?capacity|(?:[Mm]aximum|[Mm]ax) number of (?:concurrent )?(?:runtimes|sandboxes|sessions) (?:\(\d{1,6}\) )?(?:is |was )?(?:reached|exceeded)",
        sample="HTTP 503: all 7 worker slots are in use",
        explain=CAUSE,
        versions="runtime server",
        refines=("RUN010",),
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b(?:sandbox|runtime|worker|slot)s?\b.{{0,20}}\b(?:pool|slots?|capacity)\b.{{0,30}}{TAKEN}|\b{NOT_ENOUGH} (?:free |more |available )?(?:sandbox|runtime|worker)(?: slot|e)?s\b|\btoo many (?:running |open |concurrent )?(?:sandboxes|runtimes)\b",
    sample="RuntimeError: sandbox pool exhausted: 7 of 7 slots in use",
    explain=CAUSE,
    versions="any",
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
