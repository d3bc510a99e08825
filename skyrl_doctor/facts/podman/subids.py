"""Subordinate ids: the ranges of /etc/subuid and /etc/subgid, and the programs that map them."""

from collections.abc import Iterable

from skyrl_doctor.core.record import record
from skyrl_doctor.machine.questions import Stat

SET_ID_BIT = 0o4000
FIRST_ID = 100_000
"""Where useradd(8) begins to give ranges."""


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
