"""Converts containers to and from the format of Podman's API. Pure."""

from collections.abc import Mapping
from typing import Any

from skyrl_train.contracts.sandbox.wire import AGENT_PORT
from skyrl_train.sandbox.engine import PORT_LABEL, Container, ContainerSpec, Phase
from skyrl_train.sandbox.inject import Mount
from skyrl_train.sandbox.runtime.podman.host import Host

_PERIOD_US = 100_000
_LOG_BYTES = 1 << 20
_FIRST_TO_GO = 500
"""When memory is short, the kernel kills a sandbox before the server."""
_PHASES = {"running": Phase.RUNNING, "paused": Phase.PAUSED, "created": Phase.CREATED, "configured": Phase.CREATED}
_FRAME = 8


def payload(spec: ContainerSpec, host: Host) -> dict[str, Any]:
    """The body of POST /containers/create, with the limits that this host can set."""
    made: dict[str, Any] = {
        "name": spec.name,
        "image": spec.image,
        "entrypoint": [spec.command[0]],  # FIX(IMG004)
        "command": list(spec.command[1:]),
        "env": dict(spec.environment),
        "work_dir": spec.working_dir,
        "user": spec.user,
        "labels": dict(spec.labels),
        "mounts": [*(_mount(mount) for mount in spec.mounts), _terminals(spec, host)],
        "netns": {"nsmode": "slirp4netns" if spec.network else "none"},  # FIX(POD008) -- no bridge: that wants a helper
        "no_new_privileges": True,
        "image_volume_mode": "ignore",  # a file system of memory would be no part of the sandbox's own limit
        "hostname": "sandbox",
        "systemd": "false",
        "oom_score_adj": _FIRST_TO_GO,
        "log_configuration": {"driver": "k8s-file", "size": _LOG_BYTES},
        "r_limits": [_rlimit("nofile", host.open_files), _rlimit("nproc", host.processes)],
    }
    if host.writable_cgroups:
        made["mask"] = ["/sys/fs/cgroup"]
    if host.system_calls:
        made["seccomp_profile_path"] = host.system_calls
    if host.limits:
        made["resource_limits"] = {
            "cpu": {"period": _PERIOD_US, "quota": int(spec.cpus * _PERIOD_US)},
            "memory": {"limit": spec.memory_mib << 20, "swap": spec.memory_mib << 20},
            "pids": {"limit": spec.pids},
        }
    if host.disk_quota and spec.disk_mib is not None:
        made["storage_opts"] = {"size": f"{spec.disk_mib}m"}
    return made


def _rlimit(kind: str, most: int) -> dict[str, Any]:
    return {"type": kind, "soft": most, "hard": most}


def _terminals(spec: ContainerSpec, host: Host) -> dict[str, Any]:
    """As Podman mounts it, with a limit: all terminals of a node are counted together."""
    options = ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", f"max={spec.terminals}"]
    options += ["gid=5"] * host.tty_group
    return {"type": "devpts", "source": "devpts", "destination": "/dev/pts", "options": options}


def _mount(mount: Mount) -> dict[str, Any]:
    options = ["ro", "nosuid", "nodev", "rbind", "rprivate"]
    return {"type": "bind", "source": mount.source, "destination": mount.target, "options": options}


def container_of_inspect(name: str, body: Mapping[str, Any]) -> Container:
    """From GET /containers/NAME/json."""
    state = body["State"]
    return Container(
        name=name,
        phase=_PHASES.get(str(state["Status"]).lower(), Phase.EXITED),
        pid=int(state["Pid"]),
        exit_code=int(state["ExitCode"]),
        out_of_memory=bool(state.get("OOMKilled")),
        port=_port(body.get("Config", {}).get("Labels")),
    )


def container_of_list(body: Mapping[str, Any]) -> Container:
    """From an entry of GET /containers/json."""
    return Container(
        name=str(body["Names"][0]),
        phase=_PHASES.get(str(body["State"]).lower(), Phase.EXITED),
        pid=int(body["Pid"]),
        exit_code=int(body["ExitCode"]),
        port=_port(body.get("Labels")),
    )


def _port(labels: Mapping[str, str] | None) -> int:
    text = (labels or {}).get(PORT_LABEL, "")
    return int(text) if text.isdecimal() else AGENT_PORT


def log_text(stream: bytes) -> str:
    """The frames of a log without a terminal: eight bytes, the last four of which are the length, then the text."""
    parts, position = [], 0
    while position + _FRAME <= len(stream):
        length = int.from_bytes(stream[position + 4 : position + _FRAME], "big")
        parts.append(stream[position + _FRAME : position + _FRAME + length])
        position += _FRAME + length
    return b"".join(parts).decode("utf-8", "replace")
