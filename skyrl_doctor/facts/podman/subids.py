"""Subordinate ids: the ranges of /etc/subuid and /etc/subgid, and the programs that map them."""

from collections.abc import Iterable

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.mounts import Mounts
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.facts.podman.store import PodmanStore
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.paths import stat_or_none, text_or_none
from skyrl_doctor.machine.queries import Stat

SET_ID_BIT = 0o4000
FIRST_ID = 100_000
"""Where useradd(8) begins to give ranges."""
_LIMIT_S = 2.0
_NAMESPACES = "/proc/sys/user/max_user_namespaces"
_UNPRIVILEGED = "/proc/sys/kernel/unprivileged_userns_clone"


@record
class Range:
    """`count` ids from `first` on."""

    first: int
    count: int

    def __contains__(self, id_: int) -> bool:
        return self.first <= id_ < self.first + self.count


@record(kw_only=True)
class IdFile:
    """One of the two files, as far as it is about this user. `source` is the file, or the command that stood in for it.

    `free_from`: no user's range reaches that id.
    """

    source: str
    ranges: tuple[Range, ...] = ()
    broken_lines: tuple[str, ...] = ()
    exists: bool = True
    free_from: int = FIRST_ID

    @property
    def total(self) -> int:
        return sum(found.count for found in self.ranges)


@record(kw_only=True)
class MapTool:
    """newuidmap or newgidmap. `capable`: whether it has its file capability; None where nobody told."""

    name: str
    path: str | None
    stat: Stat | None = None
    nosuid: bool = False
    capable: bool | None = None

    @property
    def set_id(self) -> bool:
        return self.stat is not None and bool(self.stat.mode & SET_ID_BIT) and self.stat.uid == 0


@record(kw_only=True)
class SubIds:
    """`looked_up` is the name that Podman looks for: $USER where that is set. `namespaces` None: no limit is set."""

    user: str
    uid: int
    gid: int
    looked_up: str
    uids: IdFile
    gids: IdFile
    tools: tuple[MapTool, ...]
    ignore_chown_errors: bool
    forbidden: str = ""


def parse_id_file(source: str, text: str, names: Iterable[str]) -> IdFile:
    """`name:first:count`, the name being a user's or his number. Podman refuses the whole file for a line of another form."""
    wanted = set(names)
    ranges, broken, free_from = [], [], FIRST_ID
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        fields = line.strip().split(":")
        if len(fields) != 3 or not _is_count(fields[1]) or not _is_count(fields[2]):
            broken.append(line)
            continue
        found = Range(int(fields[1]), int(fields[2]))
        free_from = max(free_from, found.first + found.count)
        if fields[0] in wanted:
            ranges.append(found)
    return IdFile(source=source, ranges=tuple(ranges), broken_lines=tuple(broken), free_from=free_from)


def parse_getsubids(source: str, text: str) -> IdFile:
    """`0: trainer 100000 65536`: what getsubids prints, whatever the system keeps its ranges in."""
    ranges = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[0].endswith(":") and _is_count(fields[2]) and _is_count(fields[3]):
            ranges.append(Range(int(fields[2]), int(fields[3])))
    return IdFile(source=source, ranges=tuple(ranges))


def subid_source(nsswitch: str) -> str:
    """The `subid:` line of /etc/nsswitch.conf; "files" where there is none."""
    for line in nsswitch.splitlines():
        name, _, sources = line.partition("#")[0].partition(":")
        if name.strip() == "subid":
            return sources.strip() or "files"
    return "files"


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 10


@probe(limit_s=8.0)
def sub_ids(machine: Machine, podman: Podman, store: PodmanStore, mounts: Mounts) -> SubIds:
    """Reads the ranges of subordinate ids, the programs that map them, and what forbids user namespaces."""
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
