"""The programs and devices that podman needs to start a container."""

from collections.abc import Iterable

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.mounts import Mounts
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.paths import stat_or_none

HELPER_DIRS = (
    "/usr/local/libexec/podman",
    "/usr/local/lib/podman",
    "/usr/libexec/podman",
    "/usr/lib/podman",
)
"""The directories that Podman searches before PATH. helper_binaries_dir replaces them."""
CONMON_PATHS = (
    "/usr/libexec/podman/conmon",
    "/usr/local/libexec/podman/conmon",
    "/usr/local/lib/podman/conmon",
    "/usr/bin/conmon",
    "/usr/sbin/conmon",
    "/usr/local/bin/conmon",
    "/usr/local/sbin/conmon",
    "/run/current-system/sw/bin/conmon",
)
RUNTIME_DIRS = (
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/sbin",
    "/bin",
    "/run/current-system/sw/bin",
)
HYBRID = "/sys/fs/cgroup/unified"
"""Where control groups of version 2 are mounted beside version 1."""
RUNTIMES = ("crun", "runc")
NETWORK = ("pasta", "slirp4netns", "netavark", "aardvark-dns", "fuse-overlayfs")


@record(kw_only=True)
class Device:
    """A device file. `kind` is empty if it does not exist."""

    path: str
    kind: str
    writable: bool

    @property
    def usable(self) -> bool:
        return self.kind == "char" and self.writable


@record(kw_only=True)
class PodmanHelpers:
    """`found` has the path of each helper, None if it is missing. `searched` lists the directories.

    `second_controllers` are those that control groups of version 2 have on a node that has version 1 too.
    """

    found: dict[str, str | None]
    searched: tuple[str, ...]
    tun: Device
    fuse: Device
    mount_program_found: bool
    kernel: str
    second_controllers: tuple[str, ...] = ()


@probe(limit_s=5.0)
def podman_helpers(machine: Machine, store: PodmanStore, mounts: Mounts | None) -> PodmanHelpers:
    """Searches podman's helpers as Podman does: in the configured directories, then in PATH."""
    store.require_readable()
    engine = store.engine
    directories = engine.helper_dirs or HELPER_DIRS
    found = {
        name: _first(machine, (f"{directory}/{name}" for directory in directories)) or machine.which(name)
        for name in NETWORK
    }
    if engine.network_cmd_path:
        found["slirp4netns"] = _first(machine, (engine.network_cmd_path,))
    found["conmon"] = _first(machine, engine.conmon_paths or CONMON_PATHS) or machine.which("conmon")
    names = (engine.runtime,) if engine.runtime else RUNTIMES
    found["runtime"] = next(filter(None, (_runtime(machine, store, name) for name in names)), None)
    program = store.storage.mount_program
    return PodmanHelpers(
        found=found,
        searched=directories,
        tun=_device(machine, "/dev/net/tun"),
        fuse=_device(machine, "/dev/fuse"),
        mount_program_found=not program or _is_file(machine, program),
        kernel=machine.identity().system.split(" ")[1] if " " in machine.identity().system else "",
        second_controllers=_second_controllers(machine, mounts),
    )


def _second_controllers(machine: Machine, mounts: Mounts | None) -> tuple[str, ...]:
    """Those of version 2, where it is mounted beside version 1."""
    if mounts is None or not any((one.point, one.kind) == (HYBRID, "cgroup2") for one in mounts.mounts):
        return ()
    return tuple(machine.read(f"{HYBRID}/cgroup.controllers").split())


def _runtime(machine: Machine, store: PodmanStore, name: str) -> str | None:
    if "/" in name:
        return _first(machine, (name,))
    paths = store.engine.runtimes.get(name) or tuple(f"{directory}/{name}" for directory in RUNTIME_DIRS)
    return _first(machine, paths) or machine.which(name)


def _first(machine: Machine, paths: Iterable[str]) -> str | None:
    return next((path for path in paths if _is_file(machine, path)), None)


def _is_file(machine: Machine, path: str) -> bool:
    found = stat_or_none(machine, path)
    return found is not None and found.kind == "file" and bool(found.mode & 0o111)


def _device(machine: Machine, path: str) -> Device:
    found = stat_or_none(machine, path)
    if found is None:
        return Device(path=path, kind="", writable=False)
    return Device(path=path, kind=found.kind, writable=machine.writable(path))
