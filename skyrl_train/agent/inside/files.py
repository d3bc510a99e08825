"""Reads and writes files for the editor: keeps bytes that are not UTF-8, limits the size, writes atomically."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile

from skyrl_train.agent.inside.answer import ToolError

MAX_BYTES = 10 * 1024 * 1024
_NUL_BYTES = 8192  # searched for a NUL byte, which no text has


def read_text(path: str) -> str:
    """The text of a file with unchanged newlines. Bytes that are not UTF-8 are kept when it is written again."""
    found = _stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise ToolError(f"File validation failed for {path}: It is neither a file nor a directory.")
    if found.st_size > MAX_BYTES:
        size, most = found.st_size / 1024 / 1024, MAX_BYTES // 1024 // 1024
        raise ToolError(
            f"File validation failed for {path}: File is too large ({size:.1f}MB). Maximum allowed size is {most}MB."
        )
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES)
    except OSError as error:
        raise ToolError(f"Ran into {error} while trying to read {path}") from None
    if b"\0" in data[:_NUL_BYTES]:
        raise ToolError(
            f"File validation failed for {path}: "
            "File appears to be binary and this file type cannot be read or edited by this tool."
        )
    return data.decode("utf-8", "surrogateescape")


def _stat(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except OSError as error:
        raise ToolError(f"Ran into {error} while trying to read {path}") from None


def write_text(path: str, text: str) -> None:
    """Replaces a file atomically and keeps its mode. For a link, the target is replaced."""
    target = os.path.realpath(path)
    try:
        _replace(target, text.encode("utf-8", "surrogateescape"))
    except (OSError, UnicodeEncodeError) as error:
        raise ToolError(f"Ran into {error} while trying to write to {path}") from None


def _replace(target: str, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=os.path.dirname(target), prefix=f".{os.path.basename(target)[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _mode(target: str) -> int:
    """The mode of the existing file, or that of a new one."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(os.stat(target).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
