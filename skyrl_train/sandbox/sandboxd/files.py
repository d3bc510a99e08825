"""Files of the sandbox, up and down, in constant memory."""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from skyrl_train.sandbox.sandboxd.http import HttpError, Request
from skyrl_train.sandbox.sandboxd.multipart import file_chunks
from skyrl_train.sandbox.sandboxd.request_fields import absolute_path, missing

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_RIGHT = (errno.EACCES, errno.EPERM, errno.EROFS)
_BAD_NAME = (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.EISDIR)
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_BAD_PARENT = (errno.ENOTDIR, errno.EEXIST)


def upload(request: Request, path: str) -> dict[str, object]:
    """The file appears under its name when all of it has come: a body that breaks off leaves what was there before.
    One that is there keeps its rights, and a link its target."""
    target = os.path.realpath(absolute_path(path))
    _refuse_all_but_files(path, target)
    chunks = file_chunks(request.body.read, request.headers.get("content-type", ""))
    if chunks is None:
        raise missing("body", "file")
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        half_done = os.path.join(os.path.dirname(target), f".sandboxd-{os.urandom(8).hex()}.part")
        file = os.open(half_done, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise refusal(error, "upload file") from error
    try:
        with open(file, "wb", buffering=0) as writer:
            size = sum(_write(writer.fileno(), chunk) for chunk in chunks)
            _keep_rights(writer.fileno(), target)
        os.replace(half_done, target)
    except OSError as error:
        os.unlink(half_done)
        raise refusal(error, "upload file") from error
    except BaseException:
        os.unlink(half_done)
        raise
    return {"success": True, "file_size": size}


def open_for_download(path: str) -> tuple[int, dict[str, str]]:
    """A descriptor, which is the caller's to close, and the headers."""
    absolute_path(path)
    try:  # a pipe nobody writes to would hold an open that waits
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise HttpError(404, "File not found") from None
    except OSError as error:
        raise refusal(error, "download file") from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise HttpError(400, "Path is not a file")
    return file, {"content-type": "application/octet-stream", "content-disposition": _attachment(path)}


def create_directory(path: str) -> dict[str, object]:
    try:
        os.makedirs(absolute_path(path), exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise HttpError(400, "Path exists and is not a directory") from None
    except OSError as error:
        raise refusal(error, "create directory") from error
    return {"success": True}


def refusal(error: OSError, what: str) -> HttpError:
    """What the file system said, as a status that says whose fault it is."""
    said = f"Failed to {what}: {error}"
    if error.errno in _NO_SPACE:
        return HttpError(507, said)
    if error.errno in _NO_RIGHT:
        return HttpError(403, f"Permission denied: {error}")
    if error.errno in _BAD_PARENT:
        return HttpError(400, "A parent of the path is not a directory")
    return HttpError(400 if error.errno in _BAD_NAME else 500, said)


def _refuse_all_but_files(path: str, target: str) -> None:
    try:
        mode = os.stat(target).st_mode
    except OSError:
        return
    if stat.S_ISDIR(mode) or path.endswith("/"):
        raise HttpError(400, "Path is a directory")
    if not stat.S_ISREG(mode):
        raise HttpError(400, "Path is not a file")


def _write(file: int, data: bytes) -> int:
    view, size = memoryview(data), len(data)
    while view:
        view = view[os.write(file, view) :]
    return size


def _keep_rights(file: int, target: str) -> None:
    try:
        before = os.stat(target)
    except OSError:
        return
    with contextlib.suppress(OSError):
        os.fchown(file, before.st_uid, before.st_gid)
    os.fchmod(file, stat.S_IMODE(before.st_mode))


def _attachment(path: str) -> str:
    name = os.path.basename(path).encode("utf-8", "surrogateescape")
    quoted = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in name)
    if "%" in quoted:
        return f"attachment; filename*=utf-8''{quoted}"
    return f'attachment; filename="{quoted}"'
