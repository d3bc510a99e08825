"""inotify through libc, without a dependency.

Directories are watched, not files: one watch reports all changes in it, and a run has few directories.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterator

from skyrl_doctor.core.record import record

MODIFY, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x2, 0x40, 0x80, 0x100, 0x200
ATTRIB, DELETE_SELF, MOVE_SELF = 0x4, 0x400, 0x800
OVERFLOW, IGNORED, ONLYDIR = 0x4000, 0x8000, 0x1000000
MASK = MODIFY | ATTRIB | MOVED_FROM | MOVED_TO | CREATE | DELETE | DELETE_SELF | MOVE_SELF | ONLYDIR
_EVENT = struct.Struct("iIII")
_BUFFER = 1 << 16


@record
class Changed:
    """Changes since the last call: files with new content, and whether files were created, deleted or renamed."""

    files: frozenset[str] = frozenset()
    listing: bool = False


class Inotify:
    """Raises OSError where the kernel grants no watch: the caller then polls."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._queue = self._checked(self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        self._directories: dict[int, str] = {}

    def add(self, directory: str) -> None:
        number = self._checked(self._libc.inotify_add_watch(self._queue, os.fsencode(directory), ctypes.c_uint32(MASK)))
        self._directories[number] = directory

    def changed(self) -> Changed:
        """All changes so far, without waiting. After an overflow, everything may have changed."""
        files: set[str] = set()
        listing = False
        for number, mask, name in self._events():
            if mask & IGNORED:
                self._directories.pop(number, None)
            elif mask & MODIFY and number in self._directories:
                files.add(os.path.join(self._directories[number], name))
            listing = listing or not mask & MODIFY
        return Changed(frozenset(files), listing)

    def directories(self) -> frozenset[str]:
        return frozenset(self._directories.values())

    def close(self) -> None:
        os.close(self._queue)

    def _events(self) -> Iterator[tuple[int, int, str]]:
        while True:
            try:
                data = os.read(self._queue, _BUFFER)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, mask, _, length = _EVENT.unpack_from(data, at)
                at += _EVENT.size
                yield number, mask, os.fsdecode(data[at : at + length].rstrip(b"\0"))
                at += length

    def _checked(self, result: int) -> int:
        if result < 0:
            code = ctypes.get_errno() or errno.EINVAL
            raise OSError(code, os.strerror(code))
        return result
