"""How many sandboxes fit on the runtime node (RUN005)."""

from collections.abc import Iterator

from skyrl_train.contracts.violation import Violation

RESERVED_CPUS = 4
"""Default for the CPUs that the runtime reserves for itself and for image builds."""


def worker_slots(*, cpus: int, reserved_cpus: int, cpus_per_sandbox: int) -> int:
    """The number of sandboxes that the CPUs allow: (32 - 4) / 4 = 7."""
    return max(0, cpus - reserved_cpus) // max(1, cpus_per_sandbox)


def memory_slots(*, memory_mib: int, memory_per_sandbox_mib: int) -> int:
    return memory_mib // max(1, memory_per_sandbox_mib)


def slot_violations(*, slots: int, batch: int, n: int, parallel: int | None) -> Iterator[Violation]:  # FIX(RUN005)
    """Rollouts that outnumber the sandboxes: each needs its own. `parallel` limits how many run at the same time."""
    needed = batch * n if parallel is None else min(batch * n, parallel)
    if slots < 1:
        yield Violation(
            key="slurm.runtime_cpus",
            message="the runtime node has 0 sandbox slots: one sandbox needs more CPUs or memory than the node has left",
        )
    elif needed > slots:
        yield Violation(
            key="agent.max_parallel",
            message=f"{needed} rollouts at once ({batch} prompts x {n} rollouts) need {needed} sandboxes, but the runtime has {slots} slots",
            settings={"agent.max_parallel": str(slots)},
            fatal=False,
        )
