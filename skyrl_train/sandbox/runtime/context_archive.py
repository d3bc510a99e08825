"""Unpacks the directory of POST /build from a tar archive, the same on every Python.

tarfile's own extraction wrote outside its directory until June 2025, and knows no filters on Python 3.11.2. Here every
directory is opened without following links, from the one above it, so nothing outside can be reached. Accepted are
directories, files, hard links to files of the archive, and symbolic links that stay inside.
"""

import bz2
import contextlib
import gzip
import io
import os
import stat
import tarfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

MOST_FILES, MOST_BYTES = 200_000, 4 << 30
MOST_S = 300.0
_MOST_HEADER = 1 << 20
"""Bytes of the extended header of one file."""
_BLOCK = 512
_PIECE = 1 << 20
_MOST_DEPTH = 64
_LONGEST_PATH, _LONGEST_NAME = 4096, 255
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_LONG = {tarfile.GNUTYPE_LONGNAME: "path", tarfile.GNUTYPE_LONGLINK: "linkpath"}
_EXTENDED = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class ArchiveError(ValueError):
    """An archive that is refused."""


class TooLargeError(ArchiveError):
    """An archive that is larger than the limits."""


class _Timed(io.FileIO):
    """A file that is read for a limited time: packed data may stand for very much, or for nothing very often."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._deadline = time.monotonic() + MOST_S

    def readinto(self, buffer: Any) -> int | None:
        if time.monotonic() > self._deadline:
            raise TooLargeError(f"unpacking takes more than {MOST_S:g} s")
        return super().readinto(buffer)


@dataclass(slots=True)
class _Tar:
    """Reads one archive from its begin to its end. `settings`: the names of the extended header for the next file."""

    file: BinaryIO
    left: int
    settings: dict[str, str] = field(default_factory=dict)

    def read(self, size: int) -> bytes:
        self.left -= size
        if self.left < 0:
            raise TooLargeError(f"more than {MOST_FILES} files or {MOST_BYTES >> 30} GiB unpacked")
        data = self.file.read(size)
        if len(data) != size:
            raise ArchiveError("the archive ends in the middle of a file")
        return data

    def pieces(self, size: int) -> Iterator[bytes]:
        """The content of a file, and past the padding after it."""
        left = size
        while left:
            data = self.read(min(left, _PIECE))
            left -= len(data)
            yield data
        self.read(-size % _BLOCK)

    def members(self) -> Iterator[tarfile.TarInfo]:
        while any(block := self.read(_BLOCK)):
            member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
            if member.size < 0:
                raise ArchiveError(f"{member.name!r:.100} has a negative size")
            if member.type in _LONG:
                self.settings[_LONG[member.type]] = _text(self._header(member).rstrip(b"\0"))
            elif member.type in _EXTENDED:
                self.settings |= _parse_settings(self._header(member))
            elif member.type == tarfile.XGLTYPE:
                self._header(member)  # names of no single file
            else:
                yield self._named(member)

    def read_rest(self) -> None:
        """Reads to the end, where a packed archive tells whether it was complete."""
        while data := self.file.read(_PIECE):
            self.left -= len(data)
            if self.left < 0:
                raise TooLargeError(f"more than {MOST_BYTES >> 30} GiB unpacked")

    def _header(self, member: tarfile.TarInfo) -> bytes:
        if member.size > _MOST_HEADER:
            raise TooLargeError(f"an extended header has {member.size} bytes; expected at most {_MOST_HEADER}")
        return b"".join(self.pieces(member.size))

    def _named(self, member: tarfile.TarInfo) -> tarfile.TarInfo:
        """The member with what its extended header says."""
        settings, self.settings = self.settings, {}
        member.name = settings.get("path", member.name)
        member.linkname = settings.get("linkpath", member.linkname)
        size = settings.get("size", str(member.size))
        if not size.isascii() or not size.isdigit() or len(size) > len(str(MOST_BYTES)):
            raise ArchiveError(f"{member.name!r:.100} has the size {size!r:.40}")
        member.size = int(size) if member.type in _FILES else 0
        return member


@dataclass(slots=True)
class _Placed:
    """A member whose path was checked: `parts` below the directory."""

    member: tarfile.TarInfo
    parts: tuple[str, ...]


def unpack(archive: Path, directory: Path) -> None:
    """Unpacks into a new directory. Raises ArchiveError, or OSError."""
    directory.mkdir()
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(_unpacked(stack.enter_context(io.BufferedReader(_Timed(archive)))))
        root = os.open(directory, _DIRECTORY)
        stack.callback(os.close, root)
        try:
            tar = _Tar(file, MOST_BYTES)
            _unpack_all(tar, root)
            tar.read_rest()
        except (tarfile.TarError, EOFError, zlib.error, ValueError) as error:
            if isinstance(error, ArchiveError):
                raise
            raise ArchiveError(str(error)) from error


def _unpack_all(tar: _Tar, root: int) -> None:
    for count, member in enumerate(tar.members(), 1):
        if count > MOST_FILES:
            raise TooLargeError(f"more than {MOST_FILES} files or {MOST_BYTES >> 30} GiB unpacked")
        parts = _parts(member.name, "the path")
        if parts:
            _place(tar, _Placed(member, parts), root)
        elif not member.isdir():
            raise ArchiveError(f"{member.name!r:.100} is the archive's own directory; expected a directory")


def _unpacked(file: io.BufferedReader) -> BinaryIO:
    begin = file.peek(6)[:6]
    if begin.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.open(file, "rb"))
    if begin.startswith(b"BZh"):
        return cast(BinaryIO, bz2.open(file, "rb"))
    if begin.startswith((b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"\x5d\x00\x00")):
        raise ArchiveError("expected a tar archive packed with gzip or bzip2, found xz, lzma or zstd")
    return file


def _place(tar: _Tar, placed: _Placed, root: int) -> None:
    member = placed.member
    *above, name = placed.parts
    parent = _directory(root, above)
    try:
        if member.isdir():
            os.close(_directory(parent, [name]))
            return
        _make_room(parent, name)
        if member.type in _FILES:
            _write(tar, member, parent, name)
        elif member.issym():
            os.symlink(_inside(member, len(above)), name, dir_fd=parent)
        elif member.islnk():
            _link(root, member, parent, name)
        else:
            raise ArchiveError(f"{member.name!r:.100} is neither a file, a directory nor a link")
    finally:
        os.close(parent)


def _directory(start: int, parts: list[str]) -> int:
    """A descriptor of the directory, which is made where it is missing. A link on the way is refused."""
    here = os.dup(start)
    for part in parts:
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, 0o755, dir_fd=here)
        try:
            below = os.open(part, _DIRECTORY, dir_fd=here)
        except OSError as error:
            raise ArchiveError(
                f"{part!r:.100} is not a directory in the archive, but a path goes through it"
            ) from error
        finally:
            os.close(here)
        here = below
    return here


def _make_room(parent: int, name: str) -> None:
    """Removes an earlier file or link of this name, as tar does."""
    try:
        found = os.lstat(name, dir_fd=parent)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(found.st_mode):
        raise ArchiveError(f"{name!r:.100} is a directory in the archive, and a file")
    os.unlink(name, dir_fd=parent)


def _write(tar: _Tar, member: tarfile.TarInfo, parent: int, name: str) -> None:
    with open(os.open(name, _NEW, 0o600, dir_fd=parent), "wb") as file:
        file.writelines(tar.pieces(member.size))
        os.fchmod(file.fileno(), 0o755 if member.mode & stat.S_IXUSR else 0o644)


def _link(root: int, member: tarfile.TarInfo, parent: int, name: str) -> None:
    """A hard link to a file that was unpacked before."""
    *above, target = _parts(member.linkname, f"the target of {member.name!r:.100}") or ("",)
    source = _directory(root, list(above))
    try:
        if not stat.S_ISREG(os.lstat(target, dir_fd=source).st_mode):
            raise ArchiveError(f"{member.name!r:.100} is a hard link to what is not a file")
        os.link(target, name, src_dir_fd=source, dst_dir_fd=parent, follow_symlinks=False)
    finally:
        os.close(source)


def _inside(member: tarfile.TarInfo, depth: int) -> str:
    """The target of a symbolic link, if it stays inside whatever links it passes: `..` only at its begin."""
    words = [word for word in member.linkname.split("/") if word not in ("", ".")]
    up = next((count for count, word in enumerate(words) if word != ".."), len(words))
    if not member.linkname or member.linkname.startswith("/") or up > depth or ".." in words[up:]:
        raise ArchiveError(f"the link {member.name!r:.100} leads to {member.linkname!r:.100}, outside the archive")
    return member.linkname


def _parts(path: str, what: str) -> tuple[str, ...]:
    """The parts of a path below the directory. A leading slash is ignored, as tar does."""
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts or "\0" in path:
        raise ArchiveError(f"{what} {path!r:.100} leads outside the archive")
    longest = max((len(os.fsencode(part)) for part in parts), default=0)
    if len(parts) > _MOST_DEPTH or longest > _LONGEST_NAME or len(os.fsencode(path)) > _LONGEST_PATH:
        raise ArchiveError(f"{what} {path[:60]!r} is too long")
    return parts


def _parse_settings(data: bytes) -> dict[str, str]:
    """The records `LENGTH NAME=VALUE` of an extended header that matter here."""
    found: dict[str, str] = {}
    while data:
        length, _, rest = data.partition(b" ")
        if not length.isdigit() or len(length) > 9 or not len(length) + 1 < int(length) <= len(data):
            raise ArchiveError("an extended header is damaged")
        record, data = rest[: int(length) - len(length) - 1], data[int(length) :]
        name, _, value = record[:-1].partition(b"=")
        if name.startswith(b"GNU.sparse"):
            raise ArchiveError("sparse files are not supported")
        if name in (b"path", b"linkpath", b"size"):
            found[name.decode()] = _text(value)
    return found


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
