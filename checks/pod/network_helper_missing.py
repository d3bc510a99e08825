"""A program or device that Podman needs to start containers is missing.

## What it does
Looks for the network program that this version and containers.conf require (pasta or slirp4netns), netavark, conmon,
an OCI runtime and fuse-overlayfs in Podman's search paths, and checks that `/dev/net/tun` and `/dev/fuse` can be
used. If crun starts the containers, it checks that version 2 of the control groups has no controllers where version 1 has some
(`/sys/fs/cgroup/unified/cgroup.controllers`). No container is started: that would change the store.

## Why it breaks training
Podman 5 gives a rootless container its network with pasta, Podman 4 with slirp4netns; both open `/dev/net/tun`. A
partly upgraded node, or a `helper_binaries_dir` of another distribution, has podman but not its helpers, and the
first sandbox of the run fails to start. `podman info` and `podman images` do not show it.

## How to fix
Ask the administrators to install the packages on every sandbox node. If the other network program is installed,
Podman 5 uses it with `default_rootless_network_cmd` under `[network]` in containers.conf.

## Example
    Error: could not find pasta, the network namespace can't be configured: exec: "pasta": executable file not found
    in $PATH
"""

import posixpath
from collections.abc import Iterator

from checks.vocabulary import LACK
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.podman.helpers import Device, PodmanHelpers
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_train.node.podman_store import kernel_has_rootless_overlay

CAUSE = "a program for Podman's network is missing or cannot work"

SIGNATURES = (
    Signature(
        pattern=r"\bPOD008: this kernel mounts no overlay",
        sample="skyrl-train runtime: POD008: this kernel mounts no overlay for a user, and there is no fuse-overlayfs",
        explain="Podman cannot mount image layers here; fuse-overlayfs can do it",
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"""slirp4netns failed|could not find ['\"]?(?:slirp4netns|pasta|netavark|rootlessport)|aardvark-dns.{0,120}(?:failed|systemd-run)|(?:slirp4netns|pasta).{0,80}executable file not found""",
        sample='Error: could not find "netavark" in one of [/usr/libexec/podman /usr/lib/podman]',
        explain="a program for Podman's network is missing",
        versions="podman",
    ),
    Signature(
        pattern=r"pasta failed with exit code|iptables .{1,80}can't initialize|\bnetavark: (?:code|Netlink|No such|IO error|invalid|iptables|nftables|unable|failed|setns|set |create)|aardvark-dns failed|rootless netns: .{0,120}(?:failed|no such|not found)|failed to find plugin .{1,40} in path",
        sample="Error: setting up Pasta: pasta failed with exit code 1: Failed to open() /dev/net/tun: No such file or directory",
        explain=CAUSE,
        versions="podman 5",
    ),
    Signature(
        pattern=r"""['\"]?(?:slirp4netns|pasta|netavark|aardvark-dns)['\"]?.{0,60}(?:not found|no such file)|\bopen\((?:.?/dev/net/tun.?)?\)(?: /dev/net/tun)?: (?:No such (?:file|device)|Operation not permitted|Permission denied)|could not find a working conmon binary|\bcontainer create failed \(no logs from conmon\)|\bError: conmon failed: |\bFailed to open\(\) /dev/net/tun: |default OCI runtime .{1,60} not found|\bno default OCI runtime was configured\b|\bno valid executable found for OCI runtime\b|\brequested OCI runtime \S{1,80} is not available\b|exec: .{0,2}(?:/\S{1,80}/)?fuse-overlayfs.{0,2}: (?:executable file not found|stat )|\bfailed to locate iptables\b""",
        sample='Error: could not find pasta, the network namespace can\'t be configured: exec: "pasta": executable file not found in $PATH',
        explain=CAUSE,
        versions="podman 5",
        unless=r"\bConfigured OCI runtime ",  # a debug line about runtimes that are not used
    ),
    Signature(
        pattern=r"\bfuse: device (?:/dev/fuse )?not found\b|\bfuse: failed to open /dev/fuse: (?P<why>[A-Z][\w ]{3,40})|\bfuse-overlayfs: cannot mount: (?P<reason>[A-Z][\w ]{3,40})|\bfusermount3?: (?:fuse device not found|failed to open /dev/fuse|mount failed: )|\bfuse: failed to exec fusermount3?: ",
        sample="fuse: device not found, try 'modprobe fuse' first",
        explain="fuse-overlayfs and other programs of FUSE cannot use /dev/fuse here",
        remedy="An administrator loads the module and opens the device on each sandbox node: `modprobe fuse`, `chmod 666 /dev/fuse`. Inside a container the outer one needs `--device /dev/fuse`. Linux 5.11 and newer mounts overlay for users without FUSE: remove `mount_program` from storage.conf.",
        versions="fuse-overlayfs, libfuse, squashfuse",
        unless=r"\bFATAL: ",  # Apptainer names the part of its own that failed
    ),
    Signature(
        pattern=r"\bcannot open sd-bus: |\bsd-bus (?:add match|call|open): ?[^\n]{0,80}(?:Operation not permitted|No such file|not found|denied)",
        sample="Error: crun: cannot open sd-bus: No such file or directory: OCI runtime error",
        explain="Podman asks systemd for the container's cgroup, and this job has no session bus of systemd",
        remedy="Use `podman --cgroup-manager=cgroupfs`, or set `cgroup_manager` to it under `[engine]` in `~/.config/containers/containers.conf`. `loginctl enable-linger` gives the user a session where the site allows it.",
        versions="crun",
    ),
    Signature(
        pattern=r"\bcgroup configuration: rootless needs no limits\b|\bthe requested cgroup controller `(?P<controller>\w{2,20})` is not available|\bcrun: (?:cannot (?:find (?:memory or pids controller|cgroup2?) for the|set (?:limits without cgroups|memory swappiness|kernel memory|leaf_weight))|could not join cgroup|error migrating pid \d|(?:writing|opening) file `?/sys/fs/cgroup/\S{1,300}: (?:Operation not supported|No such file|Device or resource busy))|\bopening file `?cgroup\.subtree_control`? for writing: Permission denied|\bError: [^\n]{0,200}/sys/fs/cgroup/[^\n]{1,200}: [Pp]ermission denied",
        sample="Error: OCI runtime error: crun: the requested cgroup controller `cpu` is not available",
        explain="this user may not create the container's cgroup or set its limits",
        remedy="Start the container without the limit (`--cpus`, `--memory`, `--pids-limit`; `podman --cgroup-manager=cgroupfs`), or an administrator hands the controllers to users: `Delegate=cpu cpuset io memory pids` in `/etc/systemd/system/user@.service.d/delegate.conf`.",
        versions="crun",
    ),
    Signature(
        pattern=r"\bcrun: cgroups in hybrid mode not supported\b",
        sample="Error: crun: cgroups in hybrid mode not supported, drop all controllers from cgroupv2: OCI runtime error",
        explain="crun cannot use this node's control groups: versions 1 and 2 are both mounted with controllers",
        remedy='If `runc --version` works, set `runtime = "runc"` under `[engine]` in `~/.config/containers/containers.conf`. Otherwise use another node, or an administrator starts this one with version 2 only: `systemd.unified_cgroup_hierarchy=1` on the kernel\'s command line.',
        versions="crun",
    ),
    Signature(
        pattern=r"\b(?:crun|runc): [^\n]{0,80}\bsetrlimit `?(?P<limit>RLIMIT_\w{2,12})`?: (?:Operation not permitted|Permission denied)|\b[Ee]rror setting rlimits? (?:for|type) [^\n]{0,80}: operation not permitted",
        sample="Error: crun: setrlimit RLIMIT_NOFILE: Operation not permitted: OCI runtime error",
        explain="Podman asks for a higher limit in the container than this job has, and may not raise it",
        remedy='Set limits that the job has: `ulimit -Hn` and `ulimit -Hu` print them, and `default_ulimits = ["nofile=N:N", "nproc=M:M"]` under `[containers]` in `~/.config/containers/containers.conf` sets them (`--ulimit nofile=N:N` for one container). In a Slurm job, `PropagateResourceLimits` and the limits of slurmd decide.',
        versions="crun, runc",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b(?:slirp4netns|pasta|netavark|aardvark(?:-dns)?|rootlesskit)\b.{{0,100}}(?:{LACK}|failed|cannot|crashed)",
    sample="Error: netavark is not installed",
    explain=CAUSE,
    versions="any",
)

_PROGRAMS = ("pasta", "slirp4netns")
_NO_NETWORK = ("host", "none")
_PACKAGES = {"pasta": "passt", "runtime": "crun"}


@check("POD008", roles=[Role.RUNTIME], fix="operator: programs and devices of the node")
def network_helper_missing(podman: Podman, store: PodmanStore, helpers: PodmanHelpers) -> Iterator[Finding]:
    found = [*_always(podman, store, helpers), *_overlay(store, helpers)]
    if store.rootless and store.engine.netns not in _NO_NETWORK:
        found += _network(podman, store, helpers)
    yield from found
    if podman.version is None and not found:
        raise CouldNotLook(f"Podman's version decides which helpers it needs, and {podman.why_unknown}")


def _always(podman: Podman, store: PodmanStore, helpers: PodmanHelpers) -> Iterator[Finding]:
    if helpers.found.get("conmon") is None:
        yield _missing("conmon", "because it monitors each container")
    if helpers.found.get("runtime") is None:
        yield _missing(
            "runtime", "because it starts the container", shown=store.engine.runtime or "neither crun nor runc"
        )
    elif posixpath.basename(helpers.found["runtime"] or "") == "crun" and helpers.second_controllers:
        yield _hybrid(helpers.second_controllers)
    if podman.major is not None and podman.major >= 5 and helpers.found.get("netavark") is None:
        yield _missing("netavark", f"because {podman.label} has no other network backend", helpers.searched)


def _hybrid(controllers: tuple[str, ...]) -> Finding:
    return Finding(
        message=f"version 2 of the control groups has the controllers {', '.join(controllers)}, and version 1 has others; expected none, because crun then starts no container",
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="let Podman use runc, if it is installed: in containers.conf, under [engine]; otherwise use another node",
            settings={"runtime": "runc"},
        ),
        severity=Severity.WARNING,  # seen on one kind of node; a container without control groups may still start
    )


def _network(podman: Podman, store: PodmanStore, helpers: PodmanHelpers) -> Iterator[Finding]:
    program = _program(podman, store)
    if program is None:
        return
    if helpers.found.get(program) is None:
        yield _no_program(podman, program, helpers)
    elif not helpers.tun.usable:
        yield _device(helpers.tun, f"because {program} opens it")


def _program(podman: Podman, store: PodmanStore) -> str | None:
    asked = store.engine.rootless_network_cmd or store.engine.netns.partition(":")[0]
    if asked in _PROGRAMS:
        return asked
    if podman.major is None:
        return None
    return "pasta" if podman.major >= 5 else "slirp4netns"


def _no_program(podman: Podman, program: str, helpers: PodmanHelpers) -> Finding:
    other = next(name for name in _PROGRAMS if name != program)
    finding = _missing(
        program, f"because {podman.label} uses it for the network of rootless containers", helpers.searched
    )
    if helpers.found.get(other) is None or podman.major is None or podman.major < 5:
        return finding
    return Finding(
        message=f"{finding.message}; {other} is installed",
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary=f"let Podman use {other}: in containers.conf, under [network]",
            settings={"default_rootless_network_cmd": other},
        ),
    )


def _overlay(store: PodmanStore, helpers: PodmanHelpers) -> Iterator[Finding]:
    program = store.storage.mount_program
    if program and not helpers.mount_program_found:
        yield Finding(
            message=f"mount_program = {program!r} in {store.storage.path} is not a program; expected one, or no such key",
            remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary="remove the key if the kernel is 5.11 or later"),
        )
        return
    if not program and not _needs_fuse(store, helpers):
        return
    if not program and helpers.found.get("fuse-overlayfs") is None:
        yield _missing("fuse-overlayfs", f"because Linux {helpers.kernel} mounts no overlay for an ordinary user")
    elif not helpers.fuse.usable:
        yield _device(helpers.fuse, "because fuse-overlayfs opens it")


def _needs_fuse(store: PodmanStore, helpers: PodmanHelpers) -> bool:
    return store.rootless and store.places.driver == "overlay" and kernel_has_rootless_overlay(helpers.kernel) is False


def _missing(name: str, why: str, searched: tuple[str, ...] = (), *, shown: str = "") -> Finding:
    places = f" (looked in {', '.join(searched)} and on PATH)" if searched else ""
    neither = shown.startswith("neither")
    seen = f"{shown} was found" if neither else f"{shown or name} was not found"
    return Finding(
        message=f"{seen}{places}; expected {'one of them' if neither else 'it'}, {why}",
        remedy=Remedy(
            kind=RemedyKind.ASK_ADMIN,
            summary=f"ask for the package {_PACKAGES.get(name, name)} on every sandbox node",
        ),
    )


def _device(device: Device, why: str) -> Finding:
    seen = {"": "does not exist", "char": "cannot be opened for writing"}.get(device.kind, f"is a {device.kind}")
    commands = (f"chmod 666 {device.path}",) if device.kind == "char" else ()
    return Finding(
        message=f"{device.path} {seen}; expected a device that every user can open, {why}",
        remedy=Remedy(
            kind=RemedyKind.ASK_ADMIN,
            summary=f"ask for the device on every sandbox node{'; root can run this command' if commands else ''}",
            commands=commands,
        ),
    )
