"""Queries to a machine and their answers, as plain data that can be recorded.

`key` identifies a query in a recording. It leaves out the limits: the same answer is valid for a shorter limit.
"""

import shlex
from collections.abc import Mapping
from typing import Generic, TypeVar

from skyrl_doctor.core.record import record

T = TypeVar("T")
Text = Mapping[str, str]


class Query(Generic[T]):
    """A query to a machine. T is the type of its answer."""

    __slots__ = ()

    @property
    def key(self) -> str:
        raise NotImplementedError


@record(kw_only=True)
class Completed:
    """The result of a command. A missing command and a time-out do not raise; they are results too."""

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
        """Why the command failed, as text."""
        if not self.found:
            return f"{self.command}: command not found"
        if self.timed_out:
            return f"{self.command}: timed out after {self.limit_s:g} s"
        if self.truncated:
            return f"{self.command}: printed more than the doctor reads"
        output = self.err.strip() or self.out.strip()
        return f"{self.command}: exited with status {self.rc}" + (
            f": {output.splitlines()[-1][:300]}" if output else ""
        )


@record(kw_only=True)
class Stat:
    """The result of stat(2). `kind` is file, dir, link, fifo, socket, char or block."""

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
    """The result of statvfs(3) for the file system of a path."""

    total_bytes: int
    free_bytes: int
    free_inodes: int


@record(kw_only=True)
class Identity:
    """The doctor's own process and host. `python` is its interpreter; `cpus` counts the CPUs that it may use."""

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
    """Run a command without a shell. `env` is added to the environment; None removes a variable."""

    argv: tuple[str, ...]
    limit_s: float
    env: Mapping[str, str | None] | None = None

    @property
    def key(self) -> str:
        return f"run {shlex.join(self.argv)}"


@record
class Ask(Query[Completed]):
    """Run a program of skyrl_doctor/children with an interpreter (None: the doctor's own)."""

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
    """Whether the user may write to the path, according to access(2). Nothing is written."""

    path: str

    @property
    def key(self) -> str:
        return f"writable {self.path}"


@record
class LockHolder(Query[int | None]):
    """The pid that holds a POSIX lock on the file, or None. The query takes no lock itself."""

    path: str

    @property
    def key(self) -> str:
        return f"lock {self.path}"


@record
class Which(Query[str | None]):
    """The path of a command in PATH, or None."""

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
