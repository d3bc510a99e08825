"""The sockets in /tmp over which verl sends weights to vLLM, and which of them are in use. No connection is made."""

import re
import stat

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.machine.queries import Stat

DIRECTORY, TABLE = "/tmp", "/proc/net/unix"  # noqa: S108 -- verl's own choice, whatever TMPDIR is
LIMIT_BYTES = 32 << 20
MOST_FILES = 256
_NAME = re.compile(r"rl-colocate-zmq-([0-9a-f]{8})-replica-([0-9]{1,5})-rank-([0-9]{1,5})\.sock")
_ROW = re.compile(r"\s*[0-9a-fA-F]+: [0-9A-F]{8} [0-9A-F]{8} [0-9A-F]{8} [0-9A-F]{4} [0-9A-F]{2}\s+-?[0-9]+(?: (.*))?")


@record(kw_only=True)
class WeightSocket:
    """One file. `job` is the Ray job id in its name; `is_live`: a process of this network namespace holds it."""

    path: str
    job: str
    replica: int
    rank: int
    uid: int
    is_live: bool


@record(kw_only=True)
class WeightSockets:
    """The files of verl 0.8 and later. `removers`: only these users may remove a file of another user; None: everyone may."""

    files: tuple[WeightSocket, ...] = ()
    removers: frozenset[int] | None = None

    def is_kept_from(self, uid: int, file: WeightSocket) -> bool:
        """Whether this user can neither remove the file nor put another in its place."""
        return file.uid != uid and self.removers is not None and uid not in self.removers


def parse_unix(text: str) -> frozenset[str]:
    """Parses the paths of a table of Unix sockets, as in proc(5). Raises ValueError for an invalid line."""
    lines = text.split("\n")
    if "RefCount" not in lines[0]:
        raise ValueError("not a table of Unix sockets: its heading is missing")
    return frozenset(path for line in lines[1:] if line and (path := _path(line)))


def _path(line: str) -> str | None:
    row = _ROW.fullmatch(line)
    if row is None:
        raise ValueError(f"not a row of a table of Unix sockets: {line[:80]!r}")
    return row[1]


@probe(limit_s=3.0)
def weight_sockets(machine: Machine) -> WeightSockets:
    """Lists the files, then the sockets in use. A file of which another took the place meanwhile is left out."""
    names = [name for name in machine.listdir(DIRECTORY) if _NAME.fullmatch(name)][:MOST_FILES]
    if not names:
        return WeightSockets()
    before = {name: _stat(machine, name) for name in names}
    live = _live(machine)
    kept = {name: found for name in names if (found := _stat(machine, name)) is not None and found == before[name]}
    directory = machine.stat(DIRECTORY)
    return WeightSockets(
        files=tuple(_socket(name, found, live) for name, found in kept.items()),
        removers=frozenset({0, directory.uid}) if directory.mode & stat.S_ISVTX else None,
    )


def _stat(machine: Machine, name: str) -> Stat | None:
    return unless_absent(lambda: machine.stat(f"{DIRECTORY}/{name}", follow=False))


def _live(machine: Machine) -> frozenset[str]:
    text = machine.read(TABLE, limit_bytes=LIMIT_BYTES)
    if len(text) >= LIMIT_BYTES:
        raise CouldNotLook(f"{TABLE}: larger than {LIMIT_BYTES >> 20} MiB")
    try:
        return parse_unix(text)
    except ValueError as error:
        raise CouldNotLook(f"{TABLE}: {error}") from None


def _socket(name: str, found: Stat, live: frozenset[str]) -> WeightSocket:
    path = f"{DIRECTORY}/{name}"
    job, replica, rank = _NAME.findall(name)[0]
    return WeightSocket(path=path, job=job, replica=int(replica), rank=int(rank), uid=found.uid, is_live=path in live)
