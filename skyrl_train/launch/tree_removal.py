"""Unmounts and removes what a user made, safely also as root while the user's processes rename and link.

A path is walked from the root with descriptors that follow no link, and each descriptor is compared with the mount that was
meant. So a parent that is swapped for a link, or a mount of somebody else that is moved into the tree, costs nothing.
"""

import contextlib
import ctypes
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

_DETACH = 2
_STEP = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_MOST_DEPTH = 200
_ROOT = 0


class Mount(NamedTuple):
    """A line of mountinfo (proc(5))."""

    number: int
    point: str
    kind: str
    options: str

    def is_of(self, uid: int) -> bool:
        """Whether this user made it: of the mounts that everybody sees, ordinary users make only those of FUSE."""
        return self.kind.partition(".")[0] in ("fuse", "fuseblk") and f"user_id={uid}" in self.options.split(",")


def mounts(table: str) -> Iterator[Mount]:
    """The mounts of a text of mountinfo. Damaged lines are left out."""
    for line in table.splitlines():
        before, dash, after = line.partition(" - ")
        words, kind = before.split(" "), after.split(" ")
        if dash and len(words) > 5 and len(kind) > 2 and words[0].isdigit():
            yield Mount(int(words[0]), _unescaped(words[4]), kind[0], kind[2])


def unmount(mount: Mount, uid: int) -> bool:
    """Unmounts what is mounted there, if it is still this mount; whether it worked.

    Lazily, so that a file server that does not answer cannot block the cleanup. Root unmounts only what the user made.
    """
    if os.getuid() == _ROOT != uid and not mount.is_of(uid):
        return False
    with contextlib.suppress(OSError), _opened(mount.point) as found:
        if mount_number(found) == mount.number:
            return int(ctypes.CDLL(None).umount2(f"/proc/self/fd/{found}".encode(), _DETACH)) == 0
    return False


def mount_number(descriptor: int) -> int:
    """The id of the mount that a descriptor belongs to."""
    with open(f"/proc/self/fdinfo/{descriptor}", encoding="ascii") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("mnt_id:")), -1)


def remove_tree(path: str, uid: int) -> bool:
    """Removes a directory of this user with its content, without leaving its mount; whether all of it is gone."""
    above, name = os.path.split(path.rstrip("/"))
    with contextlib.suppress(OSError), _opened(above) as parent:
        try:
            found = os.open(name, _READ, dir_fd=parent)
        except PermissionError:
            os.chmod(name, stat.S_IRWXU, dir_fd=parent)
            found = os.open(name, _READ, dir_fd=parent)
        try:
            if os.fstat(found).st_uid != uid:
                return False
            _empty(found, mount_number(found), _MOST_DEPTH)
        finally:
            os.close(found)
        os.rmdir(name, dir_fd=parent)
        return True
    return False


@contextlib.contextmanager
def _opened(path: str) -> Iterator[int]:
    """A descriptor of a directory, reached without following a link."""
    here = os.open("/", _STEP)
    try:
        for part in [part for part in path.split("/") if part]:
            below = os.open(part, _STEP, dir_fd=here)
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)


def _empty(directory: int, number: int, depth: int) -> None:
    """Removes what can be removed. Another mount stays, and so does what lies too deep."""
    if mount_number(directory) != number or depth == 0:
        return
    if os.getuid() != _ROOT:
        with contextlib.suppress(OSError):
            os.fchmod(directory, stat.S_IRWXU)
    with os.scandir(directory) as entries:
        names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_directory in names:
        with contextlib.suppress(OSError):
            _remove_one(directory, name, is_directory=is_directory, number=number, depth=depth)


def _remove_one(directory: int, name: str, *, is_directory: bool, number: int, depth: int) -> None:
    if not is_directory:
        os.unlink(name, dir_fd=directory)
        return
    if os.getuid() != _ROOT:
        with contextlib.suppress(OSError):
            os.chmod(name, stat.S_IRWXU, dir_fd=directory)  # an ordinary user gains nothing by a link here
    below = os.open(name, _READ, dir_fd=directory)
    try:
        _empty(below, number, depth - 1)
    finally:
        os.close(below)
    os.rmdir(name, dir_fd=directory)


def _unescaped(text: str) -> str:
    """The text without the octal escapes of proc(5) for blanks and backslashes."""
    for code, letter in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, letter)
    return text
