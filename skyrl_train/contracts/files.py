"""Writes files atomically, and appends whole lines."""

import contextlib
import os


def write_whole(path: str, text: str, *, mode: int = 0o644, durable: bool = True) -> None:
    """Writes by rename: a kill leaves the old text or the new one; if durable, so does a power failure.

    The mode applies from the first byte. A temporary file of an earlier process with this id is replaced.
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    with contextlib.suppress(OSError):
        os.unlink(temporary)
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def append_line(path: str, line: str) -> None:
    """Appends a line in one write, so that a reader sees only whole lines. OSError if the disk is full."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)
