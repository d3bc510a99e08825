"""How many sandboxes the runtime node has room for (RUN005)."""

from collections.abc import Iterator

from skyrl_train.contracts.violation import Violation

RESERVED_CPUS = 4
"""CPUs that the runtime keeps for itself and for image builds where nothing else is said."""


def worker_slots(*, cpus: int, reserved_cpus: int, cpus_per_sandbox: int) -> int:
    """(32 - 4) / 4 = 7 in the notes' own example."""
    return max(0, cpus - reserved_cpus) // max(1, cpus_per_sandbox)


def memory_slots(*, memory_mib: int, memory_per_sandbox_mib: int) -> int:
    return memory_mib // max(1, memory_per_sandbox_mib)


def slot_violations(*, slots: int, batch: int, n: int, parallel: int | None) -> Iterator[Violation]:  # FIX(RUN005)
    """Each trajectory needs a sandbox of its own; `parallel` caps how many run at once, the rest wait."""
    wanted = batch * n if parallel is None else min(batch * n, parallel)
    if slots < 1:
        yield Violation(
            key="slurm.runtime_cpus",
            message="the runtime node has no worker slot at all: its CPUs or its memory are fewer than one sandbox takes",
        )
    elif wanted > slots:
        yield Violation(
            key="agent.max_parallel",
            message=f"{wanted} rollouts at once ({batch} prompts x {n} trajectories) want as many sandboxes; the runtime has {slots} worker slots",
            settings={"agent.max_parallel": str(slots)},
            fatal=False,
        )
