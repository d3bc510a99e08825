"""What Podman says of its host, and which limits can be set here."""

import resource
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_WANTED = frozenset({"cpu", "memory", "pids"})
_OPEN_FILES = 20_000
_PROCESSES = 20_000
"""Podman's service asks for more than it has itself: it comes down to the kernel's pid_max, 32,768 by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    limits: bool = False
    """CPU, memory and processes of a container."""
    why_no_limits: str = "nobody has looked"
    freezer: bool = False
    disk_quota: bool = False
    open_files: int = field(default_factory=lambda: _at_most(resource.RLIMIT_NOFILE, _OPEN_FILES))
    processes: int = field(default_factory=lambda: _at_most(resource.RLIMIT_NPROC, _PROCESSES))


def host_of(info: Mapping[str, Any]) -> Host:
    """From GET /info. Without a delegated cgroup (a job of Slurm has none) a rootless Podman sets no limits."""
    host, store = info.get("host") or {}, info.get("store") or {}
    rootless = bool((host.get("security") or {}).get("rootless"))
    version, controllers = str(host.get("cgroupVersion")), frozenset(host.get("cgroupControllers") or ())
    why = ""
    if rootless and version != "v2":
        why = f"rootless Podman sets no limits on cgroup {version}; wanted v2"
    elif rootless and not controllers >= _WANTED:
        why = f"this user has the cgroup controllers {', '.join(sorted(controllers)) or 'none'}; wanted cpu, memory and pids"
    status = store.get("graphStatus") or {}
    return Host(
        limits=not why,
        why_no_limits=why,
        freezer=not why,
        disk_quota=status.get("Backing Filesystem") == "xfs" and not rootless,
    )


def _at_most(kind: int, wanted: int) -> int:
    """Of a process without root's powers no limit is above its own hard one."""
    hard = resource.getrlimit(kind)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
