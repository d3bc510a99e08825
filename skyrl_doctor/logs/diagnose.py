"""Paths in, diagnosis out."""

from collections.abc import Iterator

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.choose import Diagnosis, choose
from skyrl_doctor.logs.contents import chunks
from skyrl_doctor.logs.patterns import installed
from skyrl_doctor.logs.scan import Scan
from skyrl_doctor.logs.sources import collect
from skyrl_doctor.logs.whole import scan


@record
class Found:
    """What was said of which files; `unread` says of the others, or of their rest, why not."""

    diagnosis: Diagnosis
    read: tuple[str, ...]
    unread: tuple[str, ...]


def diagnose(paths: list[str]) -> Found:
    """All logs of one job, read once each."""
    sources = collect(paths)
    scans: list[Scan] = []
    unread = list(sources.missing)
    for order, file in enumerate(sources.files):
        failed = len(unread)
        contents = _readable(file, unread)
        first = next(contents, b"")
        if first or len(unread) == failed:
            scans.append(scan(file, _and(first, contents), installed(), order=order))
    return Found(choose(scans), tuple(one.file for one in scans), tuple(unread))


def _readable(file: str, unread: list[str]) -> Iterator[bytes]:
    """The content as far as it can be read: a log may vanish, or its disk, while it is read."""
    try:
        yield from chunks(file)
    except OSError as error:
        unread.append(f"{file}: {error.strerror or error}")


def _and(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest
