"""Writes files atomically, and appends whole lines. Other users may write to the directory, as in /tmp.

A link that somebody planted is replaced or refused, never followed: the temporary file has a random name and must be new,
and the directory is held open, so that nothing redirects the steps between opening and renaming.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO, TextIO

_NAME_LETTERS = 200
_MOST_LINKS = 40


def write_whole(path: str, text: str, *, mode: int = 0o644, durable: bool = True) -> None:
    """Writes text by rename: a kill leaves the old text or the new one; if durable, so does a power failure.

    The mode applies from the first byte.
    """
    with replacing(path, mode=mode, durable=durable) as file:
        file.write(text.encode("utf-8"))


@contextlib.contextmanager
def replacing(
    path: str, *, mode: int = 0o644, durable: bool = True, like: os.stat_result | None = None
) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` at the end, unless the block raises.

    `like`: the file that was read there gives its mode and owner. OSError if the directory has another one now.
    """
    directory, name = os.path.split(path)
    holder = os.open(directory or ".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    temporary = f"{name[:_NAME_LETTERS]}.{os.urandom(8).hex()}.tmp"
    try:
        if like is not None and not os.path.samestat(os.lstat(name, dir_fd=holder), like):
            raise OSError(errno.ESTALE, "it was replaced while it was read", path)
        first_mode = mode if like is None else 0o600
        with (
            _removed_unless_renamed(temporary, name, holder),
            open(_new(temporary, holder, first_mode), "wb") as file,
        ):
            if like is not None:
                _resemble(file.fileno(), like)
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
    finally:
        os.close(holder)


def _new(name: str, holder: int, mode: int) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, mode, dir_fd=holder)


def _resemble(descriptor: int, like: os.stat_result) -> None:
    if (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
        os.fchown(descriptor, like.st_uid, like.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


@contextlib.contextmanager
def _removed_unless_renamed(temporary: str, name: str, holder: int) -> Iterator[None]:
    try:
        yield
        os.rename(temporary, name, src_dir_fd=holder, dst_dir_fd=holder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=holder)
        raise


def append_line(path: str, line: str) -> None:
    """Appends a line in one write, so that a reader sees only whole lines. OSError if the disk is full, or for a link."""
    descriptor = _appending(path)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def open_to_append(path: str) -> TextIO:
    """Opens a file at its end. OSError for a link."""
    return open(_appending(path), "a", encoding="utf-8")


def target_of_own_link(path: str) -> str:
    """The file that a user's own link points to, else the path. PermissionError for a link of another user, also among the
    directories of the path.

    Each link is read by the descriptor that its owner was asked of, so that nothing takes its place in between.
    """
    if path.startswith("/dev/fd/"):  # as bash names the end of a pipe
        path = path.replace("/dev/fd/", "/proc/self/fd/", 1)
    for _ in range(_MOST_LINKS):
        if path.startswith("/proc/"):  # where no other user makes links: /dev/stdout leads there
            return os.path.realpath(path) if os.path.isfile(path) else path
        for end in (at for at, letter in enumerate(path) if letter == "/" and at):
            _own_link(path[:end], path)
        target = _own_link(path, path)
        if target is None:
            return path
        path = os.path.join(os.path.dirname(path), target)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)


def _own_link(place: str, path: str) -> str | None:
    """Where a link of this user or of root leads; None if the place is none. PermissionError for another user's link."""
    try:
        descriptor = os.open(place, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISLNK(found.st_mode):
            return None
        if found.st_uid not in (os.geteuid(), 0):
            what = "it is a link of another user" if place == path else f"{place} is a link of another user"
            raise PermissionError(errno.EPERM, what, path)
        return os.readlink("", dir_fd=descriptor)
    finally:
        os.close(descriptor)


def _appending(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
