"""Diagnoses the logs of one job: paths in, root cause out."""

import os
from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.cause.root_cause import Diagnosis, find_root_cause
from skyrl_doctor.logs.judge.files import scan_file
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.patterns import installed_patterns
from skyrl_doctor.logs.read.sources import find_sources


@record
class Found:
    """A diagnosis, the files it rests on, and why other files, or parts of them, could not be read.

    `versions` are those of the packages that the logs name, by package.
    """

    diagnosis: Diagnosis
    read: tuple[str, ...]
    unread: tuple[str, ...]
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def empty(self) -> tuple[str, ...]:
        """The files that were read and are empty: they do not show that a run is healthy."""
        return tuple(file for file in self.read if _is_empty(file))


def _is_empty(file: str) -> bool:
    try:
        return os.path.isfile(file) and not os.path.getsize(file)
    except OSError:  # the file vanished meanwhile
        return False


def diagnose(paths: list[str], *, site_s: int = 0) -> Found:
    """Read each log of one job once, and find the root cause. `site_s` is the zone of logs that write none, in seconds east of UTC."""
    sources = find_sources(paths)
    scans: list[Scan] = []
    unread = list(sources.missing)
    for order, file in enumerate(sources.files):
        found = scan_file(file, installed_patterns(), order=order)
        scans += [found.scan] if found.scan else []
        unread += [found.unread] if found.unread else []
    versions = {name.replace("_", "-"): found for one in reversed(scans) for name, found in one.versions.items()}
    return Found(find_root_cause(scans, site_s=site_s), tuple(one.file for one in scans), tuple(unread), versions)
