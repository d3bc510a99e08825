"""Paths in, diagnosis out."""

import os

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.cause.root_cause import Diagnosis, choose
from skyrl_doctor.logs.judge.files import read
from skyrl_doctor.logs.judge.scanner import Scan
from skyrl_doctor.logs.match.patterns import installed
from skyrl_doctor.logs.read.sources import collect


@record
class Found:
    """What was said of which files; `unread` says of the others, or of their rest, why not."""

    diagnosis: Diagnosis
    read: tuple[str, ...]
    unread: tuple[str, ...]

    @property
    def empty(self) -> tuple[str, ...]:
        """Those that were read and hold nothing: a log that was not written yet, or never will be, is no healthy one."""
        return tuple(file for file in self.read if _is_empty(file))


def _is_empty(file: str) -> bool:
    try:
        return os.path.isfile(file) and not os.path.getsize(file)
    except OSError:  # gone meanwhile
        return False


def diagnose(paths: list[str], *, site_s: int = 0) -> Found:
    """All logs of one job, read once each. `site_s` is the zone of those that write none, in seconds east of Greenwich."""
    sources = collect(paths)
    scans: list[Scan] = []
    unread = list(sources.missing)
    for order, file in enumerate(sources.files):
        found = read(file, installed(), order=order)
        scans += [found.scan] if found.scan else []
        unread += [found.unread] if found.unread else []
    return Found(choose(scans, site_s=site_s), tuple(one.file for one in scans), tuple(unread))
