"""Entry points as installed packages declare them, read straight from their dist-info.

importlib.metadata gives the same, but its import alone (email, zipfile, csv) costs more than all our checks:
a prologue pays for it at every job start. A test holds this reader against it.
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
    """A module that a distribution (by its normalised name) offers under a group."""

    name: str
    module: str
    distribution: str


def entry_points(group: str, path: Sequence[str] | None = None) -> tuple[EntryPoint, ...]:
    """Those of a group; of a distribution that is there twice, the first on the path counts, as for imports."""
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for directory in sys.path if path is None else path:
        for distribution, text in _texts(directory or "."):
            found.setdefault(distribution, tuple(_in_group(text, group, distribution)))
    return tuple(point for points in found.values() for point in points)


def _texts(directory: str) -> Iterator[tuple[str, str]]:
    try:
        names = os.listdir(directory)
    except OSError:  # a path entry that is a zip file or is not there holds none of ours
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
