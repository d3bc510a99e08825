"""The limits of sandboxes on this host, and what enforces each. A configured limit is enforced, refused, or reported as
not enforced; it is never ignored silently. Pure.
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
    """Our first process, if rootless Podman has no cgroups for it."""
    DRIVER = "driver"
    KERNEL = "rlimit"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One limit of a sandbox with resource_factor 1."""

    what: str
    value: float
    held_by: Holder


def effective(settings: RuntimeSettings, host: Host) -> tuple[Limit, ...]:
    """The limits in effect. Raises UsageError for a disk limit that nothing here can enforce."""
    if settings.disk_mib is not None and not host.disk_quota:
        raise UsageError(
            f"sandbox.disk_mib = {settings.disk_mib}: the disk of a sandbox cannot be limited here: {host.why_no_disk}; "
            "remove disk_mib from [sandbox], or put sandbox.store on a file system that can limit it"
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


def limit_texts(limits: tuple[Limit, ...]) -> dict[str, str]:
    """For the event at the start."""
    return {each.what: f"{each.value:g} ({each.held_by})" for each in limits}
