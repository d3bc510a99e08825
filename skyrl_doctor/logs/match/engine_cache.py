"""Stores compiled patterns in the user's own cache directory. A problem here never fails a diagnosis."""

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

_DIGEST = 32
_OURS = re.compile(r"[0-9a-f]{32}\.(?:hyperscan|\d+)")
"""The names of stored files, and of drafts that a killed process left."""
_MAX_FILES = 8
"""Files that are kept: one for each version or environment that a user goes back to."""


def cache_path(key: Sequence[str]) -> Path | None:
    """The file for a key; None where the user has no home directory."""
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        return None
    name = hashlib.sha256("\0".join(key).encode()).hexdigest()[:_DIGEST]
    return Path(home) / "skyrl-doctor" / f"{name}.hyperscan"


def load(path: Path | None) -> bytes | None:
    """The stored data; None unless it is complete and no other user could have written it."""
    if path is None:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if status.st_uid != os.geteuid() or status.st_mode & 0o022:
                return None
            content = file.read()
            with contextlib.suppress(OSError):  # the user may not write there: then nothing is removed there either
                os.utime(descriptor)
    except OSError:
        return None
    data = content[_DIGEST:]
    return data if hashlib.sha256(data).digest() == content[:_DIGEST] else None


def store(path: Path | None, data: bytes) -> None:
    """Store the data completely or not at all; a full or read-only disk is ignored."""
    if path is None:
        return
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        draft.replace(path)
        _tidy(path.parent)
    except OSError:
        return


def _tidy(directory: Path) -> None:
    """Remove our files except the last used ones. A process that reads a removed file still has it open."""
    found = []
    with os.scandir(directory) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if _OURS.fullmatch(entry.name) and stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                found.append((status.st_mtime_ns, entry.path))
    for _, file in sorted(found)[:-_MAX_FILES]:
        with contextlib.suppress(FileNotFoundError):  # another process tidies as well
            os.unlink(file)
