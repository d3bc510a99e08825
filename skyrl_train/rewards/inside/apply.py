"""Applies the agent's changes to the repository of a new sandbox. Nothing is written through a link or outside."""

from __future__ import annotations

import base64
import binascii
import contextlib
import glob
import os
import stat
import sys
import zlib
from collections.abc import Set as AbstractSet
from typing import Any

from skyrl_train.rewards.inside.repository import MOST_FILE, files_of
from skyrl_train.rewards.inside.rules import TESTING, is_protected, parts_of, shadows

_SITES = (
    "{root}/.venv/lib/python*/site-packages",
    "{root}/*/lib/python*/site-packages",
    "/opt/*/lib/python*/site-packages",
    "/opt/*/envs/*/lib/python*/site-packages",
    "/usr/lib/python3*/dist-packages",
    "/usr/local/lib/python3*/*-packages",
    "{prefix}/lib/python3*/site-packages",
)


class Applied:
    """The changed paths, and the paths whose change was ignored."""

    def __init__(self) -> None:
        self.changed: list[str] = []
        self.ignored: list[str] = []


def apply(root: str, asked: dict[str, Any], edits: AbstractSet[str], own: AbstractSet[str] = frozenset()) -> Applied:
    """`asked` is the answer of the agent's sandbox: data that an agent may have made up. `edits`, `own`: see `is_protected`."""
    done = Applied()
    done.ignored += map(str, asked["left_out"])
    base = [entry.path for entry in files_of(root)]
    if asked["paths"] is not None:
        kept = frozenset(map(str, asked["paths"]))
        _delete(root, [path for path in base if path not in kept], edits, own, done)
    present, packages, modules = _present(base), _packages(base), installed_modules(root)
    for change in asked["files"]:
        path = str(change["path"])
        parts = parts_of(path)
        allowed = (
            parts is not None
            and not is_protected(parts, edits, own)
            and not shadows(parts, present=present, packages=packages, modules=modules)
        )
        (done.changed if allowed and _write(root, path.split("/"), change) else done.ignored).append(path)
    return done


def _delete(root: str, paths: list[str], edits: AbstractSet[str], own: AbstractSet[str], done: Applied) -> None:
    for path in paths:
        if is_protected(path.split("/"), edits, own):
            done.ignored.append(path)
            continue
        os.unlink(os.path.join(root, path))
        done.changed.append(path)
        parent = os.path.dirname(path)
        with contextlib.suppress(OSError):  # the directory has other files
            while parent:
                os.rmdir(os.path.join(root, parent))
                parent = os.path.dirname(parent)


def _write(root: str, parts: list[str], change: dict[str, Any]) -> bool:
    """Whether the change was written; not where a directory or a link is in its way."""
    path = os.path.join(root, *parts)
    link = change.get("link")
    if link is not None and not _stays_inside(parts, str(link)):
        return False
    try:
        _make_directories(root, parts[:-1])
        found = os.lstat(path) if os.path.lexists(path) else None
        if found is not None and stat.S_ISDIR(found.st_mode):
            os.rmdir(path)
        elif found is not None:
            os.unlink(path)
        if link is not None:
            os.symlink(str(link), path)
            return True
        mode = 0o755 if change.get("executable") else 0o644
        data = zlib.decompressobj().decompress(base64.b64decode(str(change["data"]), validate=True), MOST_FILE)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        with open(descriptor, "wb") as file:
            file.write(data)
    except (OSError, binascii.Error, zlib.error, KeyError):
        return False
    return True


def _make_directories(root: str, parts: list[str]) -> None:
    """Raises OSError if one of them is a link or a file."""
    place = root
    for part in parts:
        place = os.path.join(place, part)
        if not os.path.lexists(place):
            os.mkdir(place)
        elif not stat.S_ISDIR(os.lstat(place).st_mode):
            raise NotADirectoryError(place)


def _stays_inside(parts: list[str], target: str) -> bool:
    """Whether a link leads to a place of the repository, outside of the directories that are not part of the patch."""
    if os.path.isabs(target) or "\0" in target:
        return False
    meant = os.path.normpath(os.path.join(*parts[:-1], target)) if parts[:-1] else os.path.normpath(target)
    found = parts_of(meant)
    return found is not None and not is_protected(found)


def _present(base: list[str]) -> AbstractSet[str]:
    found = set(base)
    for path in base:
        parent = os.path.dirname(path)
        while parent and parent not in found:
            found.add(parent)
            parent = os.path.dirname(parent)
    return found


def _packages(base: list[str]) -> AbstractSet[str]:
    return {os.path.dirname(path) for path in base if os.path.basename(path) == "__init__.py"} - {""}


def installed_modules(root: str) -> AbstractSet[str]:
    """The names of modules of the standard library and of the packages that are installed in the image."""
    found = {*TESTING, *sys.builtin_module_names, *getattr(sys, "stdlib_module_names", ())}
    places = [os.path.dirname(os.__file__)]
    for pattern in _SITES:
        places += glob.glob(pattern.format(root=glob.escape(root), prefix=glob.escape(sys.prefix)))
    for place in places:
        with contextlib.suppress(OSError):
            found.update(name.partition(".")[0] for name in os.listdir(place))
    return found - {""}
