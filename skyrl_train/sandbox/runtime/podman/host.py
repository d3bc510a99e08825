"""Podman's facts about its host, and the limits that can be set here."""

import resource
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_WANTED = frozenset({"cpu", "memory", "pids"})
_PROJECT_QUOTA = frozenset({"pquota", "prjquota"})
_OPEN_FILES = 20_000
_TTY = 5
_PROCESSES = 20_000
"""Podman's service asks for more than it may have: the kernel's pid_max is 32,768 by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    limits: bool = False
    """Whether CPU, memory and processes of a container can be limited."""
    why_no_limits: str = "not checked"
    freezer: bool = False
    disk_quota: bool = False
    why_no_disk: str = "not checked"
    writable_cgroups: bool = False
    """With cgroups of version 1 their directory in a sandbox is a writable file system of memory, without a size."""
    tty_group: bool = False
    """Whether the group of terminals exists in sandboxes."""
    system_calls: str = ""
    """The file that says which system calls are allowed; empty: the engine's own rules."""
    open_files: int = field(default_factory=lambda: _at_most(resource.RLIMIT_NOFILE, _OPEN_FILES))
    processes: int = field(default_factory=lambda: _at_most(resource.RLIMIT_NPROC, _PROCESSES))


def host_of(info: Mapping[str, Any], *, mounts: str = "") -> Host:
    """From GET /info and, for the store's file system, /proc/self/mountinfo. Rootless Podman sets no limits without a
    delegated cgroup, which a Slurm job does not have."""
    host, store = info.get("host") or {}, info.get("store") or {}
    rootless = bool((host.get("security") or {}).get("rootless"))
    version, controllers = str(host.get("cgroupVersion")), frozenset(host.get("cgroupControllers") or ())
    why = ""
    if rootless and version != "v2":
        why = f"rootless Podman cannot set limits with cgroup {version}; v2 is needed"
    elif rootless and not controllers >= _WANTED:
        why = f"this user has the cgroup controllers {', '.join(sorted(controllers)) or 'none'}; cpu, memory and pids are needed"
    no_disk = _why_no_disk(store, mounts, rootless=rootless)
    security = host.get("security") or {}
    return Host(
        writable_cgroups=version == "v1",
        tty_group=not rootless or _groups(host) > _TTY,
        system_calls=str(security.get("seccompProfilePath") or "") if security.get("seccompEnabled") else "",
        limits=not why,
        why_no_limits=why,
        freezer=not why,
        disk_quota=not no_disk,
        why_no_disk=no_disk,
    )


def _groups(host: Mapping[str, Any]) -> int:
    """How many group ids sandboxes have."""
    mapped = (host.get("idMappings") or {}).get("gidmap") or ()
    return sum(int(each["size"]) for each in mapped)


def _why_no_disk(store: Mapping[str, Any], mounts: str, *, rootless: bool) -> str:
    """Podman's overlay driver uses project quotas of xfs, which need a mount option and root."""
    driver = str(store.get("graphDriverName") or "unknown")
    below = str((store.get("graphStatus") or {}).get("Backing Filesystem") or "unknown")
    have = f"{driver} on {below}, {'rootless' if rootless else 'rootful'}"
    if driver != "overlay" or below != "xfs" or rootless:
        return f"the driver is {have}; overlay on xfs with the mount option pquota and rootful Podman are needed"
    options = _options_of(str(store.get("graphRoot") or ""), mounts)
    if not options & _PROJECT_QUOTA:
        return f"the driver is {have}, mounted without project quotas; use the mount option pquota"
    return ""


def _options_of(path: str, mounts: str) -> frozenset[str]:
    """The mount options of the file system that holds the path."""
    found, longest = "", -1
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        words, rest = before.split(), after.split()
        if len(words) < 6 or len(rest) < 3:
            continue
        point = words[4]
        inside = point == "/" or path == point or path.startswith(point + "/")
        if inside and len(point) >= longest:
            found, longest = f"{words[5]},{rest[2]}", len(point)
    return frozenset(found.split(","))


def _at_most(kind: int, limit: int) -> int:
    """Without root no limit can exceed the process's own hard limit."""
    hard = resource.getrlimit(kind)[1]
    return limit if hard == resource.RLIM_INFINITY else min(hard, limit)
