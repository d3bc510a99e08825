"""Reads the bytes of a log: a plain or compressed file, a pipe or standard input. A silent pipe is given up."""

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
from skyrl_doctor.logs.read.spans import find_spans

CHUNK = 1 << 20
_HEAD = 8
PIPE_TIMEOUT_S = 30.0
"""A pipe that has a writer may send nothing for so long."""


def read_chunks(file: str, *, timeout_s: float = PIPE_TIMEOUT_S) -> Iterator[bytes]:
    """Yield the content, decompressed. OSError where it cannot be read, or where a compressed file is cut off."""
    if file == STDIN:
        buffered = io.BufferedReader(cast(Any, sys.stdin.buffer), CHUNK)
        try:
            yield from _read(_decompressed(buffered))
        finally:
            buffered.detach()  # else it closes standard input
        return
    with io.BufferedReader(_open(file, timeout_s), CHUNK) as buffered, _decompressed(buffered) as stream:
        yield from _read(stream)


@contextlib.contextmanager
def open_blocks(file: str) -> Iterator[Iterator[BlockReader]]:
    """Yield readers of the blocks of a file. Those of a plain file may run in any thread while the file is open."""
    descriptor = None if file == STDIN else _open_plain(file)
    if descriptor is None:
        yield cut_blocks(read_chunks(file))
        return
    try:
        yield (span.read for span in find_spans(descriptor))
    finally:
        os.close(descriptor)


def cut_blocks(chunks: Iterable[bytes]) -> Iterator[BlockReader]:
    """Yield readers of the blocks of chunks. The reader after the last block raises the error that ended the chunks."""
    cutting = Blocks()
    try:
        for chunk in chunks:
            for block in cutting.feed(chunk):
                yield functools.partial(_return_block, block)
    except OSError as error:
        failed: OSError | None = error
    else:
        failed = None
    for block in cutting.finish():
        yield functools.partial(_return_block, block)
    if failed is not None:
        yield functools.partial(_raise_error, failed)


def _return_block(block: Block) -> Block:
    return block


def _raise_error(error: OSError) -> Block:
    raise error


def _open_plain(file: str) -> int | None:
    """The descriptor of a plain file; None for a compressed file or a pipe. A pipe must not be opened twice."""
    if not stat.S_ISREG(os.stat(file).st_mode):
        return None
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(descriptor).st_mode) and not _decompressor(os.pread(descriptor, _HEAD, 0)):
        return descriptor
    os.close(descriptor)
    return None


def _read(stream: BinaryIO) -> Iterator[bytes]:
    while True:
        try:
            chunk = stream.read1(CHUNK) if hasattr(stream, "read1") else stream.read(CHUNK)
        except EOFError:
            raise OSError("the compressed file is cut off; the part before that was read") from None
        except tuple(_DAMAGED) as error:
            raise OSError(f"damaged: {error}") from None
        if not chunk:
            return
        yield chunk


def _decompressed(stream: "io.BufferedReader[Any]") -> BinaryIO:
    """The decompressed stream. The first bytes decide: a compressed log may have any name."""
    opener = _decompressor(stream.peek(_HEAD)[:_HEAD])
    return opener(stream) if opener else stream


def _decompressor(head: bytes) -> "Callable[[io.BufferedReader[Any]], BinaryIO] | None":
    return next((opener for magic, opener in _DECOMPRESSORS.items() if head.startswith(magic)), None)


def _open_zst(stream: "io.BufferedReader[Any]") -> BinaryIO:
    for name in ("compression.zstd", "zstandard"):
        try:
            module: Any = importlib.import_module(name)
        except ImportError:
            continue
        _DAMAGED.append(module.ZstdError)
        if name == "zstandard":
            return cast(BinaryIO, module.ZstdDecompressor().stream_reader(stream, read_across_frames=True))
        return cast(BinaryIO, module.open(stream))
    raise OSError("reading .zst needs Python 3.14 or the package zstandard; or decompress the file with zstd -d")


_DAMAGED: list[type[Exception]] = [lzma.LZMAError, zlib.error]
_DECOMPRESSORS: dict[bytes, Callable[["io.BufferedReader[Any]"], BinaryIO]] = {
    b"\x1f\x8b": lambda stream: cast(BinaryIO, gzip.GzipFile(fileobj=stream)),
    b"\xfd7zXZ\x00": lambda stream: cast(BinaryIO, lzma.LZMAFile(stream)),  # noqa: SIM115 -- the caller closes it
    b"BZh": lambda stream: cast(BinaryIO, bz2.BZ2File(stream)),
    b"\x28\xb5\x2f\xfd": _open_zst,
}


class _Pipe(io.RawIOBase):
    """A pipe with a timeout."""

    def __init__(self, descriptor: int, timeout_s: float) -> None:
        self._descriptor, self._timeout_s = descriptor, timeout_s

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = os.read(self._descriptor, len(buffer))
        except BlockingIOError:
            if not select.select([self._descriptor], [], [], self._timeout_s)[0]:
                raise OSError(f"the pipe sent no data for {self._timeout_s:g} s") from None
            return self.readinto(buffer)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def _open(file: str, timeout_s: float) -> io.RawIOBase:
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISFIFO(mode):
        return _Pipe(descriptor, timeout_s)
    if stat.S_ISREG(mode):
        return cast(io.RawIOBase, open(descriptor, "rb", buffering=0))
    os.close(descriptor)
    raise OSError("not a file or pipe")
