"""The user has no subordinate ids, or no program can map them.

## What it does
Reads the user's ranges in `/etc/subuid` and `/etc/subgid` (or runs `getsubids` if nsswitch.conf names another
source), and checks `newuidmap`, `newgidmap` and the kernel settings that forbid user namespaces.

## Why it breaks training
Files in images have owner ids up to 65535. Rootless Podman maps them to subordinate ids of the user. Without a range
it continues with one id and a warning. The first image with files of another user than root then fails to unpack;
agent images run as user 10001. Clusters often have no ranges for users of a directory service.

## How to fix
An administrator adds a line for the user to both files: `usermod --add-subuids 100000-165535 --add-subgids
100000-165535 USER`. Only root may write them. `ignore_chown_errors = "true"` in storage.conf lets Podman unpack
images with one id; processes of another user than root still fail.

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
    "the user has no subordinate ids for rootless containers; an administrator adds them to /etc/subuid and /etc/subgid"
)

ASK = "An administrator runs `usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER` on each sandbox node; then run `podman system migrate`."
TOOLS = "An administrator installs the package (uidmap on Debian and Ubuntu, shadow-utils on Red Hat), with its setuid bit or file capability."

SIGNATURES = (
    Signature(
        pattern=r"(?:insufficient UIDs or GIDs available in user namespace|\bapplying layer\b|\bprocessing tar file\b|\bunpacking failed\b|\bApplyLayer exit status).{0,300}\blchown (?P<file>\S{1,200}): (?i:operation not permitted)",
        sample="Error: copying system image: potentially insufficient UIDs or GIDs available in user namespace (requested 0:42 for /etc/shadow): Check /etc/subuid and /etc/subgid if configured locally and run podman system migrate: lchown /etc/shadow: operation not permitted",
        explain="the file system of Podman's store does not let containers change owners: NFS, Lustre and the like do not",
        remedy="Put the store on a local disk: `podman --root /tmp/$USER/storage …`, or `graphroot` in `~/.config/containers/storage.conf`. On a local disk, check the user's ranges in /etc/subuid and /etc/subgid.",
        versions="podman",
        unless="failed to register layer",
    ),
    Signature(
        pattern=r"insufficient UIDs or GIDs available in user namespace|not enough UIDs available for the user|no subuid ranges found",
        sample="Error: copying system image: potentially insufficient UIDs or GIDs available in user namespace (requested 0:42 for /etc/shadow): Check /etc/subuid and /etc/subgid",
        explain=CAUSE,
        remedy=ASK,
        versions="podman",
        refines=("IMG009",),  # without ids no image can be unpacked
    ),
    Signature(
        pattern=r"[Nn]o sub[ug]id ranges found|cannot find UID/GID for user \S{1,80}: open /etc/sub[ug]id|invalid internal status, try resetting .{0,120}: cannot set ?up namespace using .{0,60}new[ug]idmap|cannot set ?up (?:user )?namespace using .{0,60}new[ug]idmap(?:.{1,3}: should have setuid)?|newuidmap: .{0,120}(?:failed|not allowed|not permitted)|newgidmap: .{0,120}(?:failed|not allowed|not permitted)|\bnew[ug]idmap: (?:Target process|[Cc]ould not set caps|open of|[ug]id range)|\bcannot write [ug]id_map\b|/[ug]id_map\S{0,3}: (?:Invalid argument|Operation not permitted)",
        sample="newuidmap: write to uid_map failed: Operation not permitted",
        explain="newuidmap or newgidmap could not map the user's subordinate ids",
        remedy=f"{ASK} If /etc/subuid has the user, the tools lack their setuid bit or are on a file system mounted nosuid.",
        versions="shadow",
        refines=("POD001",),
    ),
    Signature(
        pattern=r"""executable file ['\"`]?new[ug]idmap|new[ug]idmap['\"]?: executable file not found|cannot find newuidmap|not enough (?:unused )?(?:UIDs|GIDs|IDs) available|\bnot enough unused IDs in user namespace\b|might not be enough IDs available in the namespace""",
        sample='Error: cannot find newuidmap: exec: "newuidmap": executable file not found in $PATH',
        explain="newuidmap, which maps subordinate ids, is missing, or too few ids are left",
        remedy=f"{TOOLS} {ASK}",
        versions="podman",
    ),
    Signature(
        pattern=r"\bno (?:mapping entry|valid (?:user )?entry|fakeroot mapping) found in (?P<file>/etc/sub[ug]id)\b(?: for (?P<user>\S{1,80}))?",
        sample="FATAL:   could not use fakeroot: no mapping entry found in /etc/subuid for user7",
        explain="{file} has no range of subordinate ids for the user, which --fakeroot needs",
        remedy="An administrator runs `apptainer config fakeroot --add USER` (or `usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER`) on each node. Without a range, leave out `--fakeroot`, or build the image elsewhere.",
        versions="apptainer, singularity",
        refines=("SLM010",),
    ),
    Signature(
        pattern=r"\b[Uu]ser namespaces are not enabled in (?P<setting>/proc/sys/\S{1,80}\w)",
        sample="user namespaces are not enabled in /proc/sys/user/max_user_namespaces",
        explain="{setting} is 0: this node lets no user create the namespace that a rootless container needs",
        remedy="An administrator raises it on each sandbox node: `sysctl -w user.max_user_namespaces=28633`, on Debian also `sysctl -w kernel.unprivileged_userns_clone=1`. Until then use other nodes: `cat /proc/sys/user/max_user_namespaces` shows which.",
        versions="podman, buildah",
        refines=("POD001",),
    ),
    Signature(
        pattern=r"\bfork/exec /proc/self/exe: (?P<exec>operation not permitted|no space left on device|invalid argument)|^cannot clone: (?P<why>[A-Z][\w ]{3,60})|\bunshare\(CLONE_NEWUSER\): (?P<reason>[A-Z][\w ]{3,60})|\bFATA\[\d{4}\] unshare: (?P<cause>[a-z][\w ]{3,60})",
        sample="cannot clone: Operation not permitted",
        explain="this node or the container around it lets the user create no user namespace",
        remedy="On a node, an administrator allows it: `sysctl user.max_user_namespaces kernel.unprivileged_userns_clone kernel.apparmor_restrict_unprivileged_userns` shows what forbids it. Inside a container, the outer one needs `--security-opt seccomp=unconfined` or `--privileged`.",
        versions="podman, buildah",
        last_resort=True,
        refines=("POD001",),
    ),
    Signature(
        pattern=r"(?:\bapplying layer\b|\bprocessing tar file\b|\bunpacking failed\b|\bApplyLayer exit status).{0,300}\blchown \S{1,200}: (?i:invalid argument)",
        sample='Error: writing blob: adding layer with blob "sha256:00aa": processing tar file(exit status 1): lchown /etc/gshadow: invalid argument',
        explain=CAUSE,
        remedy=ASK,
        versions="podman",
        unless="failed to register layer",
    ),
    Signature(
        pattern=r"\bbwrap: (?P<why>(?:No permissions to create|Creating) a? ?new namespace\b[^\n]{0,60}|setting up uid map: Permission denied)|\bunshare: unshare failed: (?P<reason>Operation not permitted|No space left on device)",
        sample="bwrap: No permissions to create a new namespace, likely because the kernel does not allow non-privileged user namespaces.",
        explain="this node or the container around it lets the user create no namespace, which the sandbox needs",
        remedy="On a node, an administrator allows it: `sysctl user.max_user_namespaces kernel.unprivileged_userns_clone kernel.apparmor_restrict_unprivileged_userns` shows what forbids it. Inside a container, the outer one needs `--security-opt seccomp=unconfined` or `--privileged`.",
        versions="bubblewrap, util-linux",
        last_resort=True,
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\bsub[ug]ids?\b.{{0,80}}(?:{LACK}|no (?:entry|range)|too (?:few|small))|\bno (?:entry|range|ids?)\b.{{0,60}}\bsub[ug]id",
    sample="Error: no range for user u in /etc/subuid",
    explain=CAUSE,
    remedy=ASK,
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
            f"{unsure[0].path} is not setuid root, and without getcap it is unknown whether it has a file capability"
        )


def _namespaces(ids: SubIds) -> Iterator[Finding]:
    if ids.forbidden:
        yield Finding(
            message=f"{ids.forbidden}, so no user can create a user namespace; expected a number above 0",
            remedy=Remedy(kind=RemedyKind.ASK_ADMIN, summary="ask for user namespaces on the sandbox nodes"),
        )


def _ranges(ids: SubIds, file: IdFile, own: int) -> Iterator[Finding]:
    place = Location(file.source) if file.source.startswith("/") else None
    if file.total < WANTED_IDS:
        yield Finding(
            message=f"{_seen(ids, file)}; expected {WANTED_IDS} ids",
            evidence=tuple(f"not of the form name:first:count: {line!r}" for line in file.broken_lines[:3]),
            location=place,
            severity=Severity.ERROR if not file.total and not ids.ignore_chown_errors else Severity.WARNING,
            remedy=_ask(ids),
        )
        return
    if file.broken_lines:
        yield Finding(
            message=f"{file.source} has the line {file.broken_lines[0]!r}; expected name:first:count, because some builds of Podman reject the whole file",
            location=place,
            severity=Severity.WARNING,
            remedy=Remedy(kind=RemedyKind.ASK_ADMIN, summary="ask for a correction of the line"),
        )
    if any(own in found for found in file.ranges):
        yield Finding(
            message=f"{file.source} gives {ids.looked_up!r} a range that contains the user's own id {own}; expected one without it",
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
        summary="ask for a range on every sandbox node; root runs this command, then the user runs podman system migrate",
        commands=(quoted("usermod", "--add-subuids", span, "--add-subgids", span, ids.user),),
    )


def _tool(tool: MapTool) -> Iterator[Finding]:
    if tool.path is None:
        seen = f"{tool.name} is not on PATH; expected it, because it maps the ids"
    elif tool.nosuid:
        seen = f"{tool.path} is on a file system mounted nosuid; expected one that allows setuid"
    elif not tool.set_id and tool.capable is False:
        mode = tool.stat.mode if tool.stat is not None else 0
        seen = f"{tool.path} is neither setuid root (mode {mode:04o}) nor has its file capability; expected one of them"
    else:
        return
    yield Finding(
        message=seen,
        remedy=Remedy(
            kind=RemedyKind.ASK_ADMIN, summary="ask for the package: uidmap on Debian, shadow-utils on Red Hat"
        ),
    )
