"""The settings of a server, from the command line and the configuration."""

from dataclasses import dataclass

from skyrl_train.config.slots import memory_slots, worker_slots


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings:
    """What sandboxes get, and the time limits."""

    slots: int
    """How many sandboxes of resource_factor 1 run at once."""
    host: str = "127.0.0.1"
    """The address of the sandboxes' ports, also in their URLs."""
    cpus: float = 4
    memory_mib: int = 4096
    pids: int = 512
    disk_mib: int | None = None
    """For one sandbox of factor 1. None: no limit."""
    network: bool = False
    queue: int = 256
    """Most sessions that may wait for a slot; the next one is refused with Retry-After."""
    starts_at_once: int = 8
    """Most starts at once: a larger burst makes all of them slow (RUN010)."""
    start_limit_s: float = 300.0
    """Limit from the slot to the first answer of the agent server."""
    hold_s: float = 20.0
    """POST /start answers when the sandbox is ready, or after this time: clients ask again no sooner than in 2 s."""
    attempts: int = 3
    retry_after_s: int = 10
    idle_limit_s: float = 3600.0
    """A session without a request or connection for this long is ended."""
    reap_every_s: float = 15.0
    silent_limit_s: float = 120.0
    """A sandbox whose agent server gives no answer for this long is ended."""
    registry_prefix: str = "docker.io"
    """The prefix that clients of V0 put before the names of images that they build."""
    keep_ended: int = 2000
    """How many ended sessions are remembered."""


def slots_for(*, cpus: int, reserved_cpus: int, memory_mib: int, cpus_each: int, memory_each_mib: int) -> int:
    """The rule of RUN005, applied to the node that the server runs on."""
    return min(
        worker_slots(cpus=cpus, reserved_cpus=reserved_cpus, cpus_per_sandbox=cpus_each),
        memory_slots(memory_mib=memory_mib, memory_per_sandbox_mib=memory_each_mib),
    )
