"""The files of a repository, and the answer of the agent's sandbox: what is there, and the content of what is new."""

from __future__ import annotations

import base64
import os
import stat
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from skyrl_train.rewards.inside.rules import SKIPPED

MOST_FILES = 300_000
MOST_CHANGES = 5_000
MOST_FILE = 16 << 20
MOST_BYTES = 5 << 19
"""Of all changed files together, compressed: the agent server keeps 4 MiB of a program's output."""
_VENV = "pyvenv.cfg"


class TooLargeError(Exception):
    """The repository has too many files."""


class Entry(NamedTuple):
    """A file or a link of the repository."""

    path: str
    stat: os.stat_result

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.stat.st_mode)


def repository_root() -> str:
    """The repository. R2E_ROOT is a prefix of every path in a sandbox that is a directory."""
    return os.environ.get("R2E_ROOT", "") + "/testbed"


def files_of(root: str) -> Iterator[Entry]:
    """The regular files and links, without the skipped directories and virtual environments. Follows no link."""
    seen = 0
    for directory, names, files in os.walk(root):
        linked = [name for name in names if os.path.islink(os.path.join(directory, name))]
        names[:] = sorted(name for name in names if name not in SKIPPED and name not in linked)
        names[:] = [name for name in names if not os.path.lexists(os.path.join(directory, name, _VENV))]
        for name in sorted([*files, *linked]):
            seen += 1
            if seen > MOST_FILES:
                raise TooLargeError(f"the repository has more than {MOST_FILES} files")
            found = os.lstat(os.path.join(directory, name))
            if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
                yield Entry(os.path.relpath(os.path.join(directory, name), root), found)


def changes(since: float) -> dict[str, Any]:
    """All paths of the repository, and each file that was written after `since`, by the time that no user can set.

    The smallest files come first. What exceeds the limits is left out: builds are larger than a patch.
    """
    root, paths, written = repository_root(), [], []
    for entry in files_of(root):
        paths.append(entry.path)
        if entry.stat.st_ctime >= since:
            written.append(entry)
    files: list[dict[str, Any]] = []
    left_out, left = [], MOST_BYTES
    for entry in sorted(written, key=lambda entry: entry.stat.st_size):
        content = _content(root, entry) if len(files) < MOST_CHANGES and entry.stat.st_size <= MOST_FILE else None
        size = len(content.get("data", "")) if content is not None else 0
        if content is None or size > left:
            left_out.append(entry.path)
            continue
        left -= size
        files.append(content)
    return {"paths": paths, "files": files, "left_out": left_out[:MOST_CHANGES]}


def _content(root: str, entry: Entry) -> dict[str, Any] | None:
    path = os.path.join(root, entry.path)
    try:
        if entry.is_link:
            return {"path": entry.path, "link": os.readlink(path)}
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            data = file.read(MOST_FILE)
    except OSError:
        return None
    text = base64.b64encode(zlib.compress(data, 3)).decode("ascii")
    return {"path": entry.path, "data": text, "executable": bool(entry.stat.st_mode & stat.S_IXUSR)}
