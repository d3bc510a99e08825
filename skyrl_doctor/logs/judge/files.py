"""Scans a whole file, or what comes as chunks."""

from collections.abc import Iterable

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.scanner import Scan, Scanner
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.read.contents import blocks, cut
from skyrl_doctor.logs.read.parallel import map_blocks


@record
class Read:
    """What a file holds, as far as it could be read; none where it could not be, and why not."""

    scan: Scan | None
    unread: str = ""


def read(file: str, patterns: Patterns, *, order: int = 0) -> Read:
    """All that the file holds. It may vanish, or its disk, while it is read."""
    scanner = Scanner(file, patterns, order=order)
    begun = False
    try:
        with blocks(file) as found:
            for seen in map_blocks(found, scanner.look):
                begun = True
                scanner.take(seen)
    except OSError as error:
        return Read(scanner.snapshot() if begun else None, f"{file}: {error.strerror or error}")
    return Read(scanner.snapshot())


def scan(file: str, chunks: Iterable[bytes], patterns: Patterns, *, order: int = 0) -> Scan:
    """All that the chunks hold."""
    scanner = Scanner(file, patterns, order=order)
    for seen in map_blocks(cut(chunks), scanner.look):
        scanner.take(seen)
    return scanner.snapshot()
