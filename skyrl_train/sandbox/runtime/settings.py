"""How a server is to run. Plain values; what the command line and the configuration say becomes one of these."""

from dataclasses import dataclass

from skyrl_train.config.slots import memory_slots, worker_slots


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings:
    """What sessions get, and how long things may take."""

    slots: int
    """Sandboxes of resource_factor 1 at a time."""
    host: str = "127.0.0.1"
    """Where the sandboxes' ports are, and what stands in their URLs."""
    cpus: float = 4
    memory_mib: int = 4096
    pids: int = 512
    disk_mib: int | None = None
    """Of one sandbox of factor 1. The disk is limited only where the storage driver can."""
    network: bool = False
    queue: int = 256
    """Sessions that wait for a slot; the next one is sent away with Retry-After."""
    starts_at_once: int = 8
    """A burst of starts that all run at once makes all of them late (RUN010)."""
    start_limit_s: float = 300.0
    """From the slot to the first answer of the agent server."""
    hold_s: float = 20.0
    """POST /start answers when the sandbox is ready, or after this time: clients ask again no sooner than in 2 s."""
    attempts: int = 3
    retry_after_s: int = 10
    idle_limit_s: float = 3600.0
    """A session that nobody talks to for so long was left behind by its client."""
    reap_every_s: float = 15.0
    registry_prefix: str = "docker.io"
    """What clients of V0 put before the names of images that they build."""
    keep_ended: int = 2000
    """Sessions that have ended and are still told of."""


def slots_for(*, cpus: int, reserved_cpus: int, memory_mib: int, cpus_each: int, memory_each_mib: int) -> int:
    """The rule of RUN005, applied to the node that the server runs on."""
    return min(
        worker_slots(cpus=cpus, reserved_cpus=reserved_cpus, cpus_per_sandbox=cpus_each),
        memory_slots(memory_mib=memory_mib, memory_per_sandbox_mib=memory_each_mib),
    )
