"""Reads the entry points of installed packages from their dist-info directories.

importlib.metadata gives the same, but importing it (email, zipfile, csv) takes longer than all our checks, and a Slurm
prologue pays that at each job start. A test compares this reader with it.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.record import record

_DIST_INFO = re.compile(r"(?P<name>[^-]+)(?:-[^-]+)?\.(?:dist|egg)-info")
_ENTRY = re.compile(r"(?P<name>[^=#;]+?)\s*=\s*(?P<module>[\w.]+)")


@record
class EntryPoint:
    """A module that a distribution registers in a group. `distribution` is its normalised name."""

    name: str
    module: str
    distribution: str


def entry_points(group: str, path: Sequence[str] | None = None) -> tuple[EntryPoint, ...]:
    """The entry points of a group. If a distribution is installed twice, the first on the path counts, as for imports."""
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for directory in sys.path if path is None else path:
        for distribution, text in _texts(directory or "."):
            found.setdefault(distribution, tuple(_in_group(text, group, distribution)))
    return tuple(point for points in found.values() for point in points)


def _texts(directory: str) -> Iterator[tuple[str, str]]:
    try:
        names = os.listdir(directory)
    except OSError:  # a zip file or a missing directory on the path has no dist-info
        return
    for name in sorted(names):
        match = _DIST_INFO.fullmatch(name)
        if match is None:
            continue
        distribution = re.sub(r"[-_.]+", "-", match["name"]).lower()
        try:
            with open(os.path.join(directory, name, "entry_points.txt"), encoding="utf-8") as file:
                yield distribution, file.read()
        except (OSError, UnicodeDecodeError):
            yield distribution, ""


def _in_group(text: str, group: str, distribution: str) -> Iterator[EntryPoint]:
    section = ""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("[") and stripped.endswith("]"):
            section = stripped[1:-1].strip()
        elif section == group and (match := _ENTRY.match(stripped)):
            yield EntryPoint(match["name"], match["module"], distribution)
