"""What sandboxes are held to on this host, and by whom. A limit of the configuration is held, refused, or said not to be
held: never passed over in silence. Pure.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from skyrl_train.contracts.errors import UsageError
from skyrl_train.sandbox.runtime.podman.host import Host
from skyrl_train.sandbox.runtime.settings import RuntimeSettings


class Holder(StrEnum):
    CGROUP = "cgroup"
    SANDBOXD = "sandboxd"
    """Looks and ends, where a rootless Podman's cgroups cannot."""
    DRIVER = "driver"
    KERNEL = "rlimit"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """Of a sandbox with resource_factor 1."""

    what: str
    value: float
    held_by: Holder


def effective(settings: RuntimeSettings, host: Host) -> tuple[Limit, ...]:
    """Raises UsageError for a limit of the disk that nothing here can hold."""
    if settings.disk_mib is not None and not host.disk_quota:
        raise UsageError(
            f"sandbox.disk_mib = {settings.disk_mib}: this driver cannot limit the disk of a sandbox: {host.why_no_disk}; "
            "take disk_mib out of [sandbox], or put sandbox.store on a file system that can"
        )
    return tuple(_all(settings, host))


def _all(settings: RuntimeSettings, host: Host) -> Iterator[Limit]:
    watched = Holder.CGROUP if host.limits else Holder.SANDBOXD
    yield Limit(what="cpus", value=settings.cpus, held_by=Holder.CGROUP if host.limits else Holder.NOBODY)
    yield Limit(what="memory_mib", value=settings.memory_mib, held_by=watched)
    yield Limit(what="processes", value=settings.pids, held_by=watched)
    yield Limit(what="open_files", value=host.open_files, held_by=Holder.KERNEL)
    if settings.disk_mib is not None:
        yield Limit(what="disk_mib", value=settings.disk_mib, held_by=Holder.DRIVER)


def told(limits: tuple[Limit, ...]) -> dict[str, str]:
    """For the log of the start."""
    return {each.what: f"{each.value:g} ({each.held_by})" for each in limits}
