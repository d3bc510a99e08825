"""This machine. The only module of the doctor that opens files of others, and with proc.py its only door out."""

import errno
import fcntl
import os
import pwd
import shutil
import stat as statbits
import struct
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.base import Absent, Machine, Unreadable
from skyrl_doctor.machine.http_query import Fetched, Get
from skyrl_doctor.machine.process import Processes

T = TypeVar("T")
CHILDREN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "children")
_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (statbits.S_ISREG, "file"),
    (statbits.S_ISDIR, "dir"),
    (statbits.S_ISLNK, "link"),
    (statbits.S_ISFIFO, "fifo"),
    (statbits.S_ISSOCK, "socket"),
    (statbits.S_ISCHR, "char"),
    (statbits.S_ISBLK, "block"),
)


class LocalMachine(Machine):
    """Asks the kernel and runs commands; nothing that it does changes what it looks at."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = dict(os.environ if environ is None else environ)
        self._processes = Processes()
        self._by_type: dict[type, Callable[[Any], object]] = {
            q.Run: self._run,
            q.Ask: self._ask,
            q.Read: _read,
            q.StatOf: _stat,
            q.ListDir: lambda query: tuple(sorted(os.listdir(query.path))),
            q.ReadLink: lambda query: os.readlink(query.path),
            q.SpaceOf: _space,
            q.Writable: lambda query: os.access(query.path, os.W_OK),
            q.LockHolder: _lock_holder,
            q.Which: lambda query: shutil.which(query.command, path=self._environ.get("PATH", os.defpath)),
            Get: self._get,
            q.Environ: lambda _: dict(self._environ),
            q.WhoAmI: lambda _: _identity(self._environ),
            q.Now: lambda _: time.time(),
        }

    def answer(self, query: q.Query[T]) -> T:
        try:
            return cast(T, self._by_type[type(query)](query))
        except (FileNotFoundError, NotADirectoryError):
            raise Absent(getattr(query, "path", query.key)) from None
        except OSError as error:
            raise Unreadable(getattr(query, "path", query.key), error.strerror or str(error)) from None
        except ValueError as error:  # a NUL byte in a path that some configuration names
            raise Unreadable(repr(getattr(query, "path", query.key)), str(error)) from None

    def close(self) -> None:
        self._processes.kill_all()

    def _run(self, query: q.Run) -> q.Completed:
        return self._processes.run(query.argv, name=query.argv[0], limit_s=query.limit_s, env=self._with(query.env))

    def _ask(self, query: q.Ask) -> q.Completed:
        python = query.python or sys.executable
        argv = (python, "-B", os.path.join(CHILDREN, f"{query.child}.py"), *query.args)
        name = f"{query.child} probe under {python}"
        return self._processes.run(argv, name=name, limit_s=query.limit_s, env=self._with(query.env))

    def _get(self, query: Get) -> Fetched:
        from skyrl_doctor.machine.http import fetch  # http.client takes 10 ms to import, and few ask for it

        return fetch(query, self._environ)

    def _with(self, extra: Mapping[str, str | None] | None) -> dict[str, str]:
        merged: dict[str, str | None] = {**self._environ, **(extra or {})}
        return {name: value for name, value in merged.items() if value is not None}


def _read(query: q.Read) -> bytes:
    # O_NONBLOCK: a FIFO in place of a file must not hold the doctor.
    descriptor = os.open(query.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    with open(descriptor, "rb", buffering=0) as file:
        kind = _kind(os.fstat(descriptor).st_mode)
        if kind != "file":
            raise Unreadable(query.path, f"is a {kind}, not a file")
        if query.offset:
            file.seek(query.offset)
        chunks: list[bytes] = []
        left = query.limit_bytes
        while left > 0 and (chunk := file.read(min(left, 1 << 20))):
            chunks.append(chunk)
            left -= len(chunk)
        return b"".join(chunks)


def _stat(query: q.StatOf) -> q.Stat:
    found = os.stat(query.path, follow_symlinks=query.follow)
    return q.Stat(
        kind=_kind(found.st_mode),
        mode=statbits.S_IMODE(found.st_mode),
        uid=found.st_uid,
        gid=found.st_gid,
        size=found.st_size,
        mtime=found.st_mtime,
        device=found.st_dev,
        inode=found.st_ino,
    )


def _kind(mode: int) -> str:
    return next((name for test, name in _KINDS if test(mode)), "other")


def _space(query: q.SpaceOf) -> q.Space:
    found = os.statvfs(query.path)
    return q.Space(
        total_bytes=found.f_blocks * found.f_frsize,
        free_bytes=found.f_bavail * found.f_frsize,
        free_inodes=found.f_favail,
    )


def _lock_holder(query: q.LockHolder) -> int | None:
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    descriptor = os.open(query.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        kind, _, _, _, pid = struct.unpack("hhqqi4x", fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOLCK):
            raise Unreadable(query.path, "its file system tells nothing about locks") from None
        raise
    finally:
        os.close(descriptor)
    return None if kind == fcntl.F_UNLCK else int(pid)


def _identity(environ: Mapping[str, str]) -> q.Identity:
    uid = os.getuid()
    system = os.uname()
    try:
        user = pwd.getpwuid(uid).pw_name
    except KeyError:
        user = environ.get("USER", str(uid))
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return q.Identity(
        host=system.nodename,
        user=user,
        uid=uid,
        gid=os.getgid(),
        pid=os.getpid(),
        cpus=cpus,
        system=f"{system.sysname} {system.release} {system.machine}",
        python=sys.executable,
        cwd=_cwd(),
    )


def _cwd() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise Unreadable("the working directory", "it exists no more") from None
