"""A machine answers queries. Its one abstract method is `answer`; the rest is short-hand for asking.

Absent (nothing there) and Unreadable (something there that could not be read) both leave a fact unknown
unless the probe catches them: a missing file is an answer only where somebody says so.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.http_query import Fetched, Get

T = TypeVar("T")
MIB = 1 << 20


class Absent(CouldNotLook):
    """There is nothing at that path."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path}: no such file or directory")
        self.path = path


class Unreadable(CouldNotLook):
    """Something is there, but it could not be read."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class Machine(ABC):
    """The outside world, as far as the doctor asks."""

    @abstractmethod
    def answer(self, query: q.Query[T]) -> T:
        """Answers, or raises Absent, Unreadable or CouldNotLook."""

    def run(self, argv: Sequence[str], *, limit_s: float, env: Mapping[str, str | None] | None = None) -> q.Completed:
        return self.answer(q.Run(tuple(argv), limit_s, env))

    def ask(
        self,
        child: str,
        *args: str,
        limit_s: float,
        python: str | None = None,
        env: Mapping[str, str | None] | None = None,
    ) -> q.Completed:
        return self.answer(q.Ask(child, python, args, limit_s, env))

    def read(self, path: str, *, limit_bytes: int = 4 * MIB) -> str:
        return self.read_bytes(path, limit_bytes=limit_bytes).decode("utf-8", "replace")

    def read_bytes(self, path: str, *, limit_bytes: int = 4 * MIB, offset: int = 0) -> bytes:
        return self.answer(q.Read(path, limit_bytes, offset))

    def stat(self, path: str, *, follow: bool = True) -> q.Stat:
        return self.answer(q.StatOf(path, follow))

    def exists(self, path: str) -> bool:
        return unless_absent(lambda: self.stat(path)) is not None

    def listdir(self, path: str) -> tuple[str, ...]:
        return self.answer(q.ListDir(path))

    def readlink(self, path: str) -> str:
        return self.answer(q.ReadLink(path))

    def space(self, path: str) -> q.Space:
        return self.answer(q.SpaceOf(path))

    def writable(self, path: str) -> bool:
        return self.answer(q.Writable(path))

    def lock_holder(self, path: str) -> int | None:
        return self.answer(q.LockHolder(path))

    def which(self, command: str) -> str | None:
        return self.answer(q.Which(command))

    def get(self, url: str, *, limit_s: float, key_header: str = "", key_from: str = "") -> Fetched:
        return self.answer(Get(url=url, limit_s=limit_s, key_header=key_header, key_from=key_from))

    def environ(self) -> Mapping[str, str]:
        return self.answer(q.Environ())

    def identity(self) -> q.Identity:
        return self.answer(q.WhoAmI())

    def now(self) -> float:
        return self.answer(q.Now())

    def close(self) -> None:  # noqa: B027 -- most machines hold nothing open
        """Ends whatever was started and still runs."""


def unless_absent(ask: Callable[[], T]) -> T | None:
    """The answer, or None where nothing is there. Unreadable still raises."""
    try:
        return ask()
    except Absent:
        return None
