"""Files, directories, globs and standard input as streams of bytes; .gz, .xz and, where Python can, .zst."""

import glob
import gzip
import importlib
import lzma
import os
import re
import sys
import zlib
from collections.abc import Iterator
from typing import BinaryIO, cast

from skyrl_doctor.core.record import record

CHUNK = 1 << 18
STDIN = "-"
_LOG = re.compile(r"\.(?:log|out|err)(?:\.\d+)?(?:\.(?:gz|xz|zst))?$")
_TEXT = re.compile(r"\.txt(?:\.(?:gz|xz|zst))?$")
_SECRET = re.compile(r"key|token|secret|url", re.IGNORECASE)


@record
class Sources:
    """Files to read, in a fixed order, and why others cannot be."""

    files: tuple[str, ...]
    missing: tuple[str, ...] = ()


def collect(paths: list[str]) -> Sources:
    """The logs that the paths name. Of a directory, all below it that are named like logs."""
    files: list[str] = []
    missing: list[str] = []
    for path in paths:
        found = _of(path)
        files += found
        if not found:
            missing.append(_why(path))
    seen: dict[str, str] = {}
    for file in files:
        seen.setdefault(file if file == STDIN else os.path.realpath(file), file)
    return Sources(tuple(seen.values()), tuple(missing))


def _of(path: str) -> list[str]:
    if path == STDIN:
        return [STDIN]
    if os.path.isdir(path):
        return _below(path)
    if os.path.exists(path):
        return [path]
    return [file for name in sorted(glob.glob(path, recursive=True)) for file in _of(name)]


def _below(directory: str) -> list[str]:
    every = sorted(
        os.path.join(where, name)
        for where, _, names in os.walk(directory)
        for name in names
        if os.path.isfile(os.path.join(where, name))
    )
    logs = [file for file in every if _LOG.search(file)]
    return logs or [file for file in every if _TEXT.search(file) and not _SECRET.search(os.path.basename(file))]


def _why(path: str) -> str:
    if os.path.isdir(path):
        return f"{path}: no log in it; wanted files named .log, .out, .err or .txt"
    return f"{path}: no such file"


def chunks(file: str) -> Iterator[bytes]:
    """The content, unpacked. OSError where it cannot be read; a packed file that is cut off ends early."""
    if file == STDIN:
        yield from _read(sys.stdin.buffer)
        return
    with _open(file) as stream:
        yield from _read(stream)


def _read(stream: BinaryIO) -> Iterator[bytes]:
    while True:
        try:
            chunk = stream.read1(CHUNK) if hasattr(stream, "read1") else stream.read(CHUNK)
        except EOFError:  # a .gz that its writer did not end: what was read is whole
            return
        except (lzma.LZMAError, zlib.error) as error:
            raise OSError(f"damaged: {error}") from None
        if not chunk:
            return
        yield chunk


def _open(file: str) -> BinaryIO:
    if file.endswith(".gz"):
        return cast(BinaryIO, gzip.open(file))
    if file.endswith(".xz"):
        return cast(BinaryIO, lzma.open(file))
    if file.endswith(".zst"):
        return _open_zst(file)
    return open(file, "rb")


def _open_zst(file: str) -> BinaryIO:
    for name in ("compression.zstd", "zstandard"):
        try:
            return cast(BinaryIO, importlib.import_module(name).open(file, "rb"))
        except ImportError:
            continue
    raise OSError("this Python reads no .zst: wanted Python 3.14 or the package zstandard; or unpack it: zstd -d")
