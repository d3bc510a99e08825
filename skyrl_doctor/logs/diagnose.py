"""Paths in, diagnosis out."""

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.choose import Diagnosis, choose
from skyrl_doctor.logs.patterns import installed
from skyrl_doctor.logs.scan import Scan
from skyrl_doctor.logs.sources import chunks, collect
from skyrl_doctor.logs.whole import scan


@record
class Found:
    """What was said of which files; `unread` says of the others why not."""

    diagnosis: Diagnosis
    read: tuple[str, ...]
    unread: tuple[str, ...]


def diagnose(paths: list[str]) -> Found:
    """All logs of one job, read once each."""
    sources = collect(paths)
    patterns = installed()
    scans: list[Scan] = []
    unread = list(sources.missing)
    for order, file in enumerate(sources.files):
        try:
            scans.append(scan(file, chunks(file), patterns, order=order))
        except OSError as error:
            unread.append(f"{file}: {error.strerror or error}")
    return Found(choose(scans), tuple(one.file for one in scans), tuple(unread))
