"""Reads the ranges of subordinate ids, the programs that map them, and what forbids user namespaces."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.mounts import Mounts
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.facts.podman.subids import (
    IdFile,
    MapTool,
    SubIds,
    parse_getsubids,
    parse_id_file,
    subid_source,
)
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.probes.podman.paths import stat_or_none, text_or_none

_LIMIT_S = 2.0
_NAMESPACES = "/proc/sys/user/max_user_namespaces"
_UNPRIVILEGED = "/proc/sys/kernel/unprivileged_userns_clone"


@probe(limit_s=8.0)
def sub_ids(machine: Machine, podman: Podman, store: PodmanStore, mounts: Mounts) -> SubIds:
    if not store.rootless:
        raise NotApplicable("root needs no subordinate ids")
    identity, environ = machine.identity(), machine.environ()
    source = subid_source(text_or_none(machine, "/etc/nsswitch.conf") or "")
    looked_up = (
        identity.user if podman.major is not None and podman.major >= 5 else environ.get("USER") or identity.user
    )
    names = (looked_up, str(identity.uid))
    return SubIds(
        user=identity.user,
        uid=identity.uid,
        gid=identity.gid,
        looked_up=looked_up,
        uids=_id_file(machine, "/etc/subuid", source, looked_up, names),
        gids=_id_file(machine, "/etc/subgid", source, looked_up, names),
        tools=tuple(_tool(machine, name, mounts) for name in ("newuidmap", "newgidmap")),
        ignore_chown_errors=store.storage.ignore_chown_errors,
        forbidden=_forbidden(machine),
    )


def _id_file(machine: Machine, path: str, source: str, user: str, names: tuple[str, ...]) -> IdFile:
    if source != "files":
        return _asked(machine, path, source, user)
    text = text_or_none(machine, path, limit_bytes=32 << 20)
    if text is None:
        return IdFile(source=path, exists=False)
    return parse_id_file(path, text, names)


def _asked(machine: Machine, path: str, source: str, user: str) -> IdFile:
    group = ("-g",) if path.endswith("gid") else ()
    answer = machine.run(["getsubids", *group, user], limit_s=_LIMIT_S)
    if not answer.ok and "Error fetching ranges" not in answer.err:
        raise CouldNotLook(f"/etc/nsswitch.conf keeps subordinate ids in {source!r}, and {answer.why}")
    return parse_getsubids(f"getsubids {user} ({source})", answer.out)


def _tool(machine: Machine, name: str, mounts: Mounts) -> MapTool:
    path = machine.which(name)
    if path is None:
        return MapTool(name=name, path=None)
    found = stat_or_none(machine, path)
    mount = mounts.of(path)
    nosuid = mount is not None and "nosuid" in mount.options
    tool = MapTool(name=name, path=path, stat=found, nosuid=nosuid)
    if tool.set_id:
        return tool
    return MapTool(name=name, path=path, stat=found, nosuid=nosuid, capable=_capable(machine, name, path))


def _capable(machine: Machine, name: str, path: str) -> bool | None:
    """File capabilities are in an extended attribute, which only getcap tells."""
    for command in ("getcap", "/usr/sbin/getcap", "/sbin/getcap"):
        answer = machine.run([command, path], limit_s=_LIMIT_S)
        if answer.ok:
            return ("cap_setuid" if name == "newuidmap" else "cap_setgid") in answer.out
    return None


def _forbidden(machine: Machine) -> str:
    """The kernel setting that keeps an ordinary user from making a user namespace."""
    for path in (_NAMESPACES, _UNPRIVILEGED):
        if (text_or_none(machine, path) or "").strip() == "0":
            return f"{path} is 0"
    return ""
