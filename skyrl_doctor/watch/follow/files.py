"""The log files of a job: files in its directory with a log's name, and files that the user names."""

import os
import re
import stat
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.files import COUNTS

DEPTH = 6
MOST_ENTRIES = 20_000
_LOG = re.compile(r"(?:\.(?:log|out|err)(?:\.\d{1,4})?|\.txt)$")
_NOT_LOG = re.compile(r"key|token|secret|url|requirements|latest_c|events\.jsonl|health\.prom", re.IGNORECASE)
OWN = frozenset({"watch.log", "watch.out", "watch.err", "events.jsonl", "health.prom", "summary.md"})
"""Files that the watch writes itself are no evidence."""
SKIPPED_DIRECTORIES = re.compile(r"^(?:global_step_\d+|checkpoints?|__pycache__|\.git|wandb|\.venv|node_modules)$")
"""Places in a job directory that hold many files and no logs."""


@record
class LogFile:
    """A log: its path and its identity."""

    path: str
    device: int
    inode: int

    @property
    def identity(self) -> tuple[int, int]:
        return (self.device, self.inode)


@record
class Listing:
    files: tuple[LogFile, ...] = ()
    directories: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()


def listing(places: Sequence[str]) -> Listing:
    """The logs in these places. Each inode is listed once, under its first name."""
    files: dict[tuple[int, int], LogFile] = {}
    directories: list[str] = []
    troubles: list[str] = []
    for place in places:
        for path in _walk(place, directories, troubles):
            seen = _seen(path, troubles)
            if seen is not None:
                files.setdefault(seen.identity, seen)
    return Listing(tuple(files.values()), tuple(directories), tuple(troubles))


def is_log(name: str) -> bool:
    return name == COUNTS or (
        name not in OWN and _LOG.search(name) is not None and not (name.endswith(".txt") and _NOT_LOG.search(name))
    )


def _walk(place: str, directories: list[str], troubles: list[str]) -> Iterator[str]:
    if not os.path.isdir(place):
        yield place
        return
    entries = 0
    for where, below, names in os.walk(
        place, onerror=lambda error: troubles.append(f"{error.filename}: {error.strerror}")
    ):
        directories.append(where)
        deep = os.path.relpath(where, place).count(os.sep) + 1 >= DEPTH
        below[:] = [] if deep else sorted(name for name in below if not SKIPPED_DIRECTORIES.match(name))
        entries += len(names) + len(below)
        if entries > MOST_ENTRIES:
            troubles.append(f"{place}: more than {MOST_ENTRIES} entries; the rest is ignored")
            return
        yield from (os.path.join(where, name) for name in sorted(names) if is_log(name))


def _seen(path: str, troubles: list[str]) -> LogFile | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:  # deleted meanwhile, or not created yet
        return None
    except OSError as error:
        troubles.append(f"{path}: {error.strerror}")
        return None
    return LogFile(path, found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
