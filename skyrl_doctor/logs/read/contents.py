"""The bytes of a log: plain or packed, a file, a pipe or standard input. It never waits for a pipe that nobody writes to."""

import bz2
import contextlib
import functools
import gzip
import importlib
import io
import lzma
import os
import select
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, cast

from skyrl_doctor.logs.read.blocks import Block, BlockReader, Blocks
from skyrl_doctor.logs.read.sources import STDIN
from skyrl_doctor.logs.read.spans import spans

CHUNK = 1 << 20
_HEAD = 8
PATIENCE_S = 30.0
"""So long a pipe that has a writer may give nothing."""


def chunks(file: str, *, patience_s: float = PATIENCE_S) -> Iterator[bytes]:
    """The content, unpacked. OSError where it cannot be read, or where a packed file is cut off."""
    if file == STDIN:
        buffered = io.BufferedReader(cast(Any, sys.stdin.buffer), CHUNK)
        try:
            yield from _read(_unpacked(buffered))
        finally:
            buffered.detach()  # else it closes standard input
        return
    with io.BufferedReader(_opened(file, patience_s), CHUNK) as buffered, _unpacked(buffered) as stream:
        yield from _read(stream)


@contextlib.contextmanager
def blocks(file: str) -> Iterator[Iterator[BlockReader]]:
    """The content in blocks. A plain file's are read by whoever looks at them, while the file is open."""
    descriptor = None if file == STDIN else _plain(file)
    if descriptor is None:
        yield cut(chunks(file))
        return
    try:
        yield (span.read for span in spans(descriptor))
    finally:
        os.close(descriptor)


def cut(some: Iterable[bytes]) -> Iterator[BlockReader]:
    """Chunks as blocks. An error comes in its turn, after the blocks before it."""
    cutting = Blocks()
    try:
        for chunk in some:
            for block in cutting.feed(chunk):
                yield functools.partial(_given, block)
    except OSError as error:
        failed: OSError | None = error
    else:
        failed = None
    for block in cutting.finish():
        yield functools.partial(_given, block)
    if failed is not None:
        yield functools.partial(_refused, failed)


def _given(block: Block) -> Block:
    return block


def _refused(error: OSError) -> Block:
    raise error


def _plain(file: str) -> int | None:
    """A file that is read as it lies, open; none where it must be unpacked. A pipe may be opened only once."""
    if not stat.S_ISREG(os.stat(file).st_mode):
        return None
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(descriptor).st_mode) and not _packer(os.pread(descriptor, _HEAD, 0)):
        return descriptor
    os.close(descriptor)
    return None


def _read(stream: BinaryIO) -> Iterator[bytes]:
    while True:
        try:
            chunk = stream.read1(CHUNK) if hasattr(stream, "read1") else stream.read(CHUNK)
        except EOFError:
            raise OSError("cut off: what was packed has no end; what stands before that was read") from None
        except tuple(_DAMAGED) as error:
            raise OSError(f"damaged: {error}") from None
        if not chunk:
            return
        yield chunk


def _unpacked(stream: "io.BufferedReader[Any]") -> BinaryIO:
    """By the first bytes, for a log that was packed by hand may have any name."""
    opener = _packer(stream.peek(_HEAD)[:_HEAD])
    return opener(stream) if opener else stream


def _packer(head: bytes) -> "Callable[[io.BufferedReader[Any]], BinaryIO] | None":
    return next((opener for magic, opener in _PACKERS.items() if head.startswith(magic)), None)


def _zst(stream: "io.BufferedReader[Any]") -> BinaryIO:
    for name in ("compression.zstd", "zstandard"):
        try:
            module: Any = importlib.import_module(name)
        except ImportError:
            continue
        _DAMAGED.append(module.ZstdError)
        if name == "zstandard":
            return cast(BinaryIO, module.ZstdDecompressor().stream_reader(stream, read_across_frames=True))
        return cast(BinaryIO, module.open(stream))
    raise OSError("this Python reads no .zst: wanted Python 3.14 or the package zstandard; or unpack it: zstd -d")


_DAMAGED: list[type[Exception]] = [lzma.LZMAError, zlib.error]
_PACKERS: dict[bytes, Callable[["io.BufferedReader[Any]"], BinaryIO]] = {
    b"\x1f\x8b": lambda stream: cast(BinaryIO, gzip.GzipFile(fileobj=stream)),
    b"\xfd7zXZ\x00": lambda stream: cast(BinaryIO, lzma.LZMAFile(stream)),  # noqa: SIM115 -- the caller closes it
    b"BZh": lambda stream: cast(BinaryIO, bz2.BZ2File(stream)),
    b"\x28\xb5\x2f\xfd": _zst,
}


class _Pipe(io.RawIOBase):
    """A pipe, read without waiting for ever."""

    def __init__(self, descriptor: int, patience_s: float) -> None:
        self._descriptor, self._patience_s = descriptor, patience_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = os.read(self._descriptor, len(buffer))
        except BlockingIOError:
            if not select.select([self._descriptor], [], [], self._patience_s)[0]:
                raise OSError(f"nothing came out of this pipe for {self._patience_s:g} s") from None
            return self.readinto(buffer)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def _opened(file: str, patience_s: float) -> io.RawIOBase:
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISFIFO(mode):
        return _Pipe(descriptor, patience_s)
    if stat.S_ISREG(mode):
        return cast(io.RawIOBase, open(descriptor, "rb", buffering=0))
    os.close(descriptor)
    raise OSError("no file and no pipe")
