"""Which file system holds a path: /proc/self/mountinfo, parsed. No path is touched to find out."""

import re

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Absent, Machine

NETWORK = frozenset(
    {
        "nfs",
        "nfs4",
        "lustre",
        "gpfs",
        "beegfs",
        "cifs",
        "smb3",
        "smbfs",
        "ceph",
        "glusterfs",
        "afs",
        "orangefs",
        "pvfs2",
        "panfs",
        "wekafs",
        "9p",
        "virtiofs",
    }
)
NETWORK_FUSE = re.compile(
    r"^fuse\.(?:sshfs|s3fs|gcsfuse|rclone|glusterfs|ceph|beegfs|juicefs|cvmfs2?|goofys|mountpoint-s3|blobfuse2?)$"
)
_OCTAL = re.compile(r"\\([0-7]{3})")
MOUNTINFO = "/proc/self/mountinfo"


@record
class Mount:
    point: str
    kind: str
    source: str
    options: tuple[str, ...] = ()

    @property
    def is_network(self) -> bool:
        return self.kind in NETWORK or NETWORK_FUSE.match(self.kind) is not None


@record
class Mounts:
    """All mounts, in the kernel's order: a later one hides an earlier one at the same point."""

    mounts: tuple[Mount, ...]

    def of(self, path: str) -> Mount | None:
        """The mount that holds an absolute, resolved path."""
        holding = [mount for mount in self.mounts if _is_under(path, mount.point)]
        longest = max((len(mount.point) for mount in holding), default=0)
        return next((mount for mount in reversed(holding) if len(mount.point) == longest), None)


def parse_mountinfo(text: str) -> Mounts:
    """proc(5): `36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw`. A line that does not fit is passed over."""
    return Mounts(tuple(mount for line in text.splitlines() if (mount := _parse_line(line))))


def _parse_line(line: str) -> Mount | None:
    before, separator, after = line.partition(" - ")
    left, right = before.split(" "), after.split(" ")
    if not separator or len(left) < 6 or len(right) < 2 or not right[0]:
        return None
    return Mount(_unescape(left[4]), right[0], _unescape(right[1]), tuple(left[5].split(",")))


def _unescape(text: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def _is_under(path: str, point: str) -> bool:
    return point == "/" or path == point or path.startswith(point.rstrip("/") + "/")


@probe(limit_s=2.0)
def mounts(machine: Machine) -> Mounts:
    """Reads the mount table; it never touches a mount, so a dead one cannot hold it."""
    try:
        text = machine.read(MOUNTINFO)
    except Absent:
        raise NotApplicable("this is not Linux: it has no /proc/self/mountinfo") from None
    found = parse_mountinfo(text)
    if not found.mounts:
        raise CouldNotLook(f"{MOUNTINFO} holds no line that reads as a mount")
    return found
