"""One growing log: complete lines, each once, also after rotation, truncation or a kill of the watch.

A line ends with a line feed or, for progress bars, with a carriage return. An unfinished line is held back; `offset`
stays at its first byte, so a new watch reads the complete line again.
"""

import os
import stat

from skyrl_doctor.core.record import record

PIECE = 1 << 18
"""Bytes read at a time, and the longest unfinished line that is kept; a longer one is split."""
OVERLAP = 1 << 10
HEAD = 256
"""Bytes that distinguish a file from another that took its place or its inode."""


@record(kw_only=True)
class Mark:
    """How far a file was read. `lines` counts the line feeds before `offset`."""

    device: int
    inode: int
    offset: int = 0
    lines: int = 0
    head: str = ""

    @property
    def identity(self) -> tuple[int, int]:
        return (self.device, self.inode)


@record
class Lines:
    """Complete lines; `number` is that of the first, counted in line feeds from 1. `open`: the line may still grow."""

    path: str
    number: int
    text: bytes
    open: bool = False


class Tail:
    """Reads one open file. Its inode identifies it; its path is only a label."""

    def __init__(self, path: str, mark: Mark | None = None) -> None:
        self.path = path
        self.restarted = ""
        # O_NONBLOCK: a FIFO in place of a log must not hold the watch.
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        found = os.fstat(self._file)
        if not stat.S_ISREG(found.st_mode):
            os.close(self._file)
            raise OSError(0, "is not a regular file")
        self.device, self.inode = found.st_dev, found.st_ino
        self._kept = b""
        self._offset, self._lines, self._head = 0, 0, b""
        if mark is not None and mark.identity == self.identity:
            head = bytes.fromhex(mark.head)
            if os.pread(self._file, len(head), 0) == head:  # a new file may get the inode of a deleted one
                self._offset, self._lines, self._head = mark.offset, mark.lines, head

    @property
    def identity(self) -> tuple[int, int]:
        return (self.device, self.inode)

    @property
    def mark(self) -> Mark:
        return Mark(device=self.device, inode=self.inode, offset=self._offset, lines=self._lines, head=self._head.hex())

    def read(self) -> Lines | None:
        """The next complete lines, up to a limit; None where nothing is new. Raises OSError."""
        self._check_for_truncation()
        piece = os.pread(self._file, PIECE - len(self._kept), self._offset + len(self._kept))
        if not piece:
            return None
        if len(self._head) < HEAD:
            self._head = os.pread(self._file, HEAD, 0)
        text = self._kept + piece
        end = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        if not end and len(text) >= PIECE:
            return self._cut(text)
        lines = Lines(self.path, self._lines + 1, text[:end])
        self._offset += end
        self._lines += lines.text.count(b"\n")
        self._kept = text[end:]
        return lines

    def _cut(self, text: bytes) -> Lines:
        """A piece of a line that is too long. The next piece repeats its end, so that no match is lost at the split."""
        end = len(text) - OVERLAP
        self._offset += end
        self._kept = text[end:]
        return Lines(self.path, self._lines + 1, text)

    def unfinished(self) -> Lines | None:
        """The text after the last line end, such as a waiting progress bar. It comes again as a complete line."""
        return Lines(self.path, self._lines + 1, self._kept, open=True) if self._kept else None

    def links(self) -> int:
        """How many names the file has left."""
        return os.fstat(self._file).st_nlink

    def close(self) -> None:
        os.close(self._file)

    def _check_for_truncation(self) -> None:
        size = os.fstat(self._file).st_size
        read = self._offset + len(self._kept)
        if size < read:
            self._start_again("it was truncated")
        elif size > read and self._head and os.pread(self._file, len(self._head), 0) != self._head:
            self._start_again("it was overwritten")

    def _start_again(self, why: str) -> None:
        self.restarted = why
        self._offset, self._lines, self._kept, self._head = 0, 0, b"", b""
