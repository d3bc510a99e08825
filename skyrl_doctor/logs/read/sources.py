"""Which files the paths of a command line name: files, directories, globs, standard input."""

import glob
import os
import re

from skyrl_doctor.core.record import record

STDIN = "-"
_LOG = re.compile(r"\.(?:log|out|err)(?:[.-]\d+)*(?:\.(?:gz|bz2|xz|zst))?$")
_TEXT = re.compile(r"\.txt(?:\.(?:gz|bz2|xz|zst))?$")
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
        found = _of(path, missing)
        files += found
        if not found:
            missing.append(_why(path))
    seen: dict[str, str] = {}
    for file in files:
        seen.setdefault(file if file == STDIN else os.path.realpath(file), file)
    return Sources(tuple(seen.values()), tuple(missing))


def _of(path: str, missing: list[str]) -> list[str]:
    if path == STDIN:
        return [STDIN]
    if os.path.isdir(path):
        return _below(path, missing)
    if os.path.lexists(path):
        return [path]
    return [file for name in sorted(glob.glob(path, recursive=True)) for file in _of(name, missing)]


def _below(directory: str, missing: list[str]) -> list[str]:
    def unreadable(error: OSError) -> None:
        missing.append(f"{error.filename}: {error.strerror}")

    every = sorted(
        os.path.join(where, name)
        for where, _, names in os.walk(directory, onerror=unreadable)
        for name in names
        if os.path.isfile(os.path.join(where, name))
    )
    logs = [file for file in every if _LOG.search(file)]
    return logs or [file for file in every if _TEXT.search(file) and not _SECRET.search(os.path.basename(file))]


def _why(path: str) -> str:
    if os.path.isdir(path):
        return f"{path}: no log in it; wanted files named .log, .out, .err or .txt"
    return f"{path}: no such file"
