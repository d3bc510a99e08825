"""The programs and devices that podman starts a container with."""

from skyrl_doctor.core.record import record

HELPER_DIRS = (
    "/usr/local/libexec/podman",
    "/usr/local/lib/podman",
    "/usr/libexec/podman",
    "/usr/lib/podman",
)
"""Where Podman looks before PATH. Setting helper_binaries_dir replaces them."""
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
RUNTIMES = ("crun", "runc")


@record(kw_only=True)
class Device:
    """A device file. `kind` empty: there is none."""

    path: str
    kind: str
    writable: bool

    @property
    def usable(self) -> bool:
        return self.kind == "char" and self.writable


@record(kw_only=True)
class PodmanHelpers:
    """`found` are paths by the helper's name, None where it is missing; `searched` says where a helper was looked for."""

    found: dict[str, str | None]
    searched: tuple[str, ...]
    tun: Device
    fuse: Device
    mount_program_found: bool
    kernel: str
