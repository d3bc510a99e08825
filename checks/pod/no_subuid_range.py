"""The user has no range of subordinate ids, or nothing that can map them.

## What it does
Reads the user's ranges in `/etc/subuid` and `/etc/subgid` (or asks `getsubids`, where nsswitch.conf keeps them
elsewhere), looks at `newuidmap` and `newgidmap`, and at the kernel settings that forbid user namespaces.

## Why it breaks training
Images own their files by ids up to 65535. Rootless Podman maps them to subordinate ids of the user. Without a range it
goes on with one id and a warning, and the first image whose files belong to anybody but root fails while it is
unpacked; agent images run as user 10001. Clusters often have no ranges for the users of their directory service.

## How to fix
An administrator adds a line for the user to both files: `usermod --add-subuids 100000-165535 --add-subgids
100000-165535 USER`. Code cannot: only root may write them. `ignore_chown_errors = "true"` in storage.conf lets Podman
unpack images with one id; what runs in them as another user than root still fails.

## Example
    potentially insufficient UIDs or GIDs available in user namespace (requested 0:42 for /etc/gshadow):
    Check /etc/subuid and /etc/subgid
"""

from collections.abc import Iterator

from checks.pod.shared import quoted
from checks.vocabulary import LACK
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.podman.subids import IdFile, MapTool, SubIds
from skyrl_train.node.podman_store import WANTED_IDS

CAUSE = (
    "the user has no range of ids for rootless containers; the administrator gives one in /etc/subuid and /etc/subgid"
)

SIGNATURES = (
    Signature(
        pattern=r"insufficient UIDs or GIDs available in user namespace|not enough UIDs available for the user|no subuid ranges found",
        sample="Error: copying system image: potentially insufficient UIDs or GIDs available in user namespace (requested 0:42 for /etc/shadow): Check /etc/subuid and /etc/subgid",
        explain=CAUSE,
        versions="podman",
    ),
    Signature(
        pattern=r"[Nn]o sub[ug]id ranges found|cannot find UID/GID for user \S{1,80}: open /etc/sub[ug]id|cannot set ?up (?:user )?namespace using .{0,60}new[ug]idmap|newuidmap: .{0,120}(?:failed|not allowed|not permitted)|newgidmap: .{0,120}(?:failed|not allowed|not permitted)|\bnew[ug]idmap: Target process|/[ug]id_map\S{0,3}: (?:Invalid argument|Operation not permitted)",
        sample="newuidmap: write to uid_map failed: Operation not permitted",
        explain=CAUSE,
        versions="shadow",
    ),
    Signature(
        pattern=r"""executable file ['\"`]?new[ug]idmap|new[ug]idmap['\"]?: executable file not found|cannot find newuidmap|not enough (?:unused )?(?:UIDs|GIDs|IDs) available|might not be enough IDs available in the namespace""",
        sample='Error: cannot find newuidmap: exec: "newuidmap": executable file not found in $PATH',
        explain=CAUSE,
        versions="podman",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\bsub[ug]ids?\b.{{0,80}}(?:{LACK}|no (?:entry|range)|too (?:few|small))|\bno (?:entry|range|ids?)\b.{{0,60}}\bsub[ug]id",
    sample="Error: no range for user u in /etc/subuid",
    explain=CAUSE,
    versions="any",
)


@check("POD003", roles=[Role.RUNTIME], fix="operator: only root may write /etc/subuid and install newuidmap")
def no_subuid_range(ids: SubIds) -> Iterator[Finding]:
    found = [*_namespaces(ids), *_ranges(ids, ids.uids, ids.uid), *_ranges(ids, ids.gids, ids.gid)]
    found += [finding for tool in ids.tools for finding in _tool(tool)]
    yield from found
    unsure = [tool for tool in ids.tools if tool.path and not tool.set_id and tool.capable is None]
    if unsure and not found:
        raise CouldNotLook(
            f"{unsure[0].path} is not setuid root; whether it has a file capability instead only getcap tells, "
            "and getcap is not here"
        )


def _namespaces(ids: SubIds) -> Iterator[Finding]:
    if ids.forbidden:
        yield Finding(
            message=f"{ids.forbidden}, so no user can make a user namespace; wanted a number above 0",
            remedy=Remedy(kind=RemedyKind.ASK_ADMIN, summary="ask for user namespaces on the sandbox nodes"),
        )


def _ranges(ids: SubIds, file: IdFile, own: int) -> Iterator[Finding]:
    place = Location(file.source) if file.source.startswith("/") else None
    if file.total < WANTED_IDS:
        yield Finding(
            message=f"{_seen(ids, file)}; wanted {WANTED_IDS} ids",
            evidence=tuple(f"not of the form name:first:count: {line!r}" for line in file.broken_lines[:3]),
            location=place,
            severity=Severity.ERROR if not file.total and not ids.ignore_chown_errors else Severity.WARNING,
            remedy=_ask(ids),
        )
        return
    if file.broken_lines:
        yield Finding(
            message=f"{file.source} has a line {file.broken_lines[0]!r}; wanted name:first:count: some builds of Podman refuse the whole file",
            location=place,
            severity=Severity.WARNING,
            remedy=Remedy(kind=RemedyKind.ASK_ADMIN, summary="have the line mended"),
        )
    if any(own in found for found in file.ranges):
        yield Finding(
            message=f"{file.source} gives {ids.looked_up!r} a range that holds his own id {own}; wanted one without it",
            location=place,
            remedy=_ask(ids),
        )


def _seen(ids: SubIds, file: IdFile) -> str:
    if not file.exists:
        return f"{file.source} does not exist"
    user = repr(ids.looked_up) if ids.looked_up == ids.user else f"{ids.looked_up!r} ($USER; the user is {ids.user!r})"
    if not file.total:
        return f"{file.source} gives {user} no range"
    return f"{file.source} gives {user} {file.total} ids"


def _ask(ids: SubIds) -> Remedy:
    first = max(ids.uids.free_from, ids.gids.free_from)
    span = f"{first}-{first + WANTED_IDS - 1}"
    return Remedy(
        kind=RemedyKind.ASK_ADMIN,
        summary="ask for a range on every sandbox node; as root, and podman system migrate as the user",
        commands=(quoted("usermod", "--add-subuids", span, "--add-subgids", span, ids.user),),
    )


def _tool(tool: MapTool) -> Iterator[Finding]:
    if tool.path is None:
        seen = f"{tool.name} is not on PATH; wanted: it maps the ids"
    elif tool.nosuid:
        seen = f"{tool.path} is on a file system that is mounted nosuid; wanted one where it may change its user"
    elif not tool.set_id and tool.capable is False:
        mode = tool.stat.mode if tool.stat is not None else 0
        seen = f"{tool.path} is neither setuid root (mode {mode:04o}) nor has its file capability; wanted one of them"
    else:
        return
    yield Finding(
        message=seen,
        remedy=Remedy(
            kind=RemedyKind.ASK_ADMIN, summary="ask for the package: uidmap on Debian, shadow-utils on Red Hat"
        ),
    )
