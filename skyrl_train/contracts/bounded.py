"""Reads files that may come from anyone: regular files only, up to a size, without waiting.

A FIFO without a writer would block, and a device has no end. All refusals are OSErrors with a short `strerror`, so that a
caller reports them as it reports a missing file.
"""

import errno
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

MOST_BYTES = 16 << 20
LONGEST_LINE = 16 << 20
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Opens a regular file. OSError for anything else, without blocking."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        raise OSError(
            errno.EINVAL, f"{_KINDS.get(stat.S_IFMT(mode), 'not a file')}, not a regular file", os.fspath(path)
        )
    return open(descriptor, "rb")


def read_bytes(path: str | os.PathLike[str], *, most_bytes: int = MOST_BYTES) -> bytes:
    """The content of a file. OSError if it is larger or no regular file."""
    with open_file(path) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"larger than {_size(most_bytes)}", os.fspath(path))
    return data


def read_end(path: str | os.PathLike[str], *, start: int, most_bytes: int) -> bytes:
    """The last bytes of a file, none before `start`. OSError as `open_file`."""
    with open_file(path) as file:
        file.seek(max(start, os.fstat(file.fileno()).st_size - most_bytes))
        return file.read(most_bytes)


def read_text(path: str | os.PathLike[str], *, most_bytes: int = MOST_BYTES, errors: str = "strict") -> str:
    """The UTF-8 text of a file, without byte-order mark. OSError as `read_bytes`; ValueError if it is not UTF-8."""
    return read_bytes(path, most_bytes=most_bytes).decode("utf-8-sig", errors)


def lines(path: str | os.PathLike[str], *, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str | None]]:
    """The lines with their numbers; None for a line that is longer. Its rest is skipped. OSError as `read_bytes`."""
    with open_file(path) as file:
        number = 0
        while line := file.readline(longest + 1):
            number += 1
            if len(line) <= longest:
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8", "replace")
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(longest)
            yield number, None


def too_long(longest: int = LONGEST_LINE) -> str:
    """Why a line was refused."""
    return f"longer than {_size(longest)}"


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >> 20 else f"{count >> 10} KiB" if count >> 10 else f"{count} bytes"
