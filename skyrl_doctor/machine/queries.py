"""What can be asked of a machine, and what it answers: plain data, so that every exchange can be recorded.

`key` names a query in a recording. Limits are no part of it: the same answer serves whoever waits less.
"""

import shlex
from collections.abc import Mapping
from typing import Generic, TypeVar

from skyrl_doctor.core.record import record

T = TypeVar("T")
Text = Mapping[str, str]


class Query(Generic[T]):
    """Something to ask of a machine; T is the type of the answer."""

    __slots__ = ()

    @property
    def key(self) -> str:
        raise NotImplementedError


@record(kw_only=True)
class Completed:
    """What a command did. It never raises: not found and timed out are answers too."""

    command: str
    rc: int | None = None
    out: str = ""
    err: str = ""
    found: bool = True
    timed_out: bool = False
    truncated: bool = False
    limit_s: float = 0.0

    @property
    def ok(self) -> bool:
        return self.rc == 0 and not self.truncated

    @property
    def why(self) -> str:
        """Why there is no good answer, in words."""
        if not self.found:
            return f"{self.command}: no such command"
        if self.timed_out:
            return f"{self.command}: no answer within {self.limit_s:g} s"
        if self.truncated:
            return f"{self.command}: more output than the doctor reads"
        said = self.err.strip() or self.out.strip()
        return f"{self.command}: exit status {self.rc}" + (f": {said.splitlines()[-1][:300]}" if said else "")


@record(kw_only=True)
class Stat:
    """What stat(2) says, as far as checks ask. `kind`: file, dir, link, fifo, socket, char, block."""

    kind: str
    mode: int
    uid: int
    gid: int
    size: int
    mtime: float
    device: int
    inode: int


@record(kw_only=True)
class Space:
    """What statvfs(3) says of the file system that holds a path."""

    total_bytes: int
    free_bytes: int
    free_inodes: int


@record(kw_only=True)
class Identity:
    """Who and where the doctor is. `python` is its own interpreter, `cpus` those that it may use."""

    host: str
    user: str
    uid: int
    gid: int
    pid: int
    cpus: int
    system: str
    python: str
    cwd: str


@record
class Run(Query[Completed]):
    """Run a command, without a shell. `env` is added to the environment; None takes a variable away."""

    argv: tuple[str, ...]
    limit_s: float
    env: Mapping[str, str | None] | None = None

    @property
    def key(self) -> str:
        return f"run {shlex.join(self.argv)}"


@record
class Ask(Query[Completed]):
    """Run one of the programs in skyrl_doctor/children under an interpreter (None: the doctor's own)."""

    child: str
    python: str | None
    args: tuple[str, ...]
    limit_s: float
    env: Mapping[str, str | None] | None = None

    @property
    def key(self) -> str:
        return f"ask {shlex.join((self.child, self.python or 'own-python', *self.args))}"


@record
class Read(Query[bytes]):
    """The bytes of a regular file, from `offset`, at most `limit_bytes`."""

    path: str
    limit_bytes: int
    offset: int = 0

    @property
    def key(self) -> str:
        span = f" {self.offset}+{self.limit_bytes}" if self.offset else ""
        return f"read {self.path}{span}"


@record
class StatOf(Query[Stat]):
    path: str
    follow: bool = True

    @property
    def key(self) -> str:
        return f"{'stat' if self.follow else 'lstat'} {self.path}"


@record
class ListDir(Query[tuple[str, ...]]):
    path: str

    @property
    def key(self) -> str:
        return f"list {self.path}"


@record
class ReadLink(Query[str]):
    path: str

    @property
    def key(self) -> str:
        return f"readlink {self.path}"


@record
class SpaceOf(Query[Space]):
    path: str

    @property
    def key(self) -> str:
        return f"space {self.path}"


@record
class Writable(Query[bool]):
    """Whether the doctor's user may write there; asked of the kernel, nothing is written."""

    path: str

    @property
    def key(self) -> str:
        return f"writable {self.path}"


@record
class LockHolder(Query[int | None]):
    """The pid that holds a POSIX lock on the file; None where nobody does. Taking no lock itself."""

    path: str

    @property
    def key(self) -> str:
        return f"lock {self.path}"


@record
class Which(Query[str | None]):
    """The path of a command as PATH finds it."""

    command: str

    @property
    def key(self) -> str:
        return f"which {self.command}"


@record
class Environ(Query[Text]):
    @property
    def key(self) -> str:
        return "environ"


@record
class WhoAmI(Query[Identity]):
    @property
    def key(self) -> str:
        return "identity"


@record
class Now(Query[float]):
    """Seconds since the epoch."""

    @property
    def key(self) -> str:
        return "now"
