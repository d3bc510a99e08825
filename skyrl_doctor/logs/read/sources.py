"""Finds the files that the paths of a command line name: files, directories, globs, standard input."""

import glob
import os
import re

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.read.watch_lines import is_watch_line
from skyrl_train.contracts import bounded
from skyrl_train.contracts.similar_path import did_you_mean

STDIN = "-"
WATCH_LOGS = frozenset({"watch.log", "watch.out", "watch.err"})
"""Names that the output of a watch may have. They are read where they are named, or where another program wrote them."""
_BEGIN_BYTES = 64
_LOG = re.compile(r"\.(?:log|out|err)(?:[.-]\d+)*(?:\.(?:gz|bz2|xz|zst))?$")
_TEXT = re.compile(r"\.txt(?:\.(?:gz|bz2|xz|zst))?$")
_SECRET = re.compile(r"key|token|secret|url", re.IGNORECASE)


_SYSTEM = re.compile(r"dmesg|journal|syslog|\bkern|sacct|nvidia-smi|console", re.IGNORECASE)


@record
class Sources:
    """The files to read, in a fixed order, and why other paths cannot be read.

    `skipped` are logs of the system beside the job's: they speak of other jobs too, and are read only where they are named.
    """

    files: tuple[str, ...]
    missing: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


def find_sources(paths: list[str]) -> Sources:
    """The logs that the paths name. A directory stands for all files below it that are named like logs."""
    files: list[str] = []
    missing: list[str] = []
    for path in paths:
        found = _files_of(path, missing)
        files += found
        if not found:
            missing.append(_reason(path))
    first_names: dict[str, str] = {}
    for file in files:
        first_names.setdefault(file if file == STDIN else os.path.realpath(file), file)
    skipped = [file for path in paths if os.path.isdir(path) for file in _system_logs(path)]
    left = [file for file in skipped if os.path.realpath(file) not in first_names]
    return Sources(tuple(first_names.values()), tuple(missing), tuple(left))


def _system_logs(directory: str) -> list[str]:
    """The texts in a directory that are named like logs of the system."""
    with os.scandir(directory) as entries:
        names = sorted(entry.path for entry in entries if entry.is_file())
    return [name for name in names if _TEXT.search(name) and _SYSTEM.search(os.path.basename(name))]


def _files_of(path: str, missing: list[str]) -> list[str]:
    if path == STDIN:
        return [STDIN]
    if os.path.isdir(path):
        return _below(path, missing)
    if os.path.lexists(path):
        return [path]
    return [file for name in sorted(glob.glob(path, recursive=True)) for file in _files_of(name, missing)]


def _below(directory: str, missing: list[str]) -> list[str]:
    def unreadable(error: OSError) -> None:
        missing.append(f"{error.filename}: {error.strerror}")

    every = sorted(
        os.path.join(where, name)
        for where, _, names in os.walk(directory, onerror=unreadable)
        for name in names
        if os.path.isfile(os.path.join(where, name))
    )
    logs = [file for file in every if _LOG.search(file) and not _is_of_watch(file)]
    return logs or [file for file in every if _TEXT.search(file) and not _SECRET.search(os.path.basename(file))]


def _is_of_watch(file: str) -> bool:
    """Whether a watch wrote the file: its findings are no lines of the run."""
    if os.path.basename(file) not in WATCH_LOGS:
        return False
    try:
        with bounded.open_file(file) as opened:
            return is_watch_line(opened.read(_BEGIN_BYTES))
    except OSError:
        return False


def _reason(path: str) -> str:
    if os.path.isdir(path):
        return f"{path}: no logs found; expected files named .log, .out, .err or .txt"
    return f"{path}: no such file or directory{did_you_mean(path)}"
