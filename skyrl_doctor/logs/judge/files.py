"""Scans a file from its first byte to its last, or a sequence of chunks."""

from collections.abc import Iterable

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.judge.scanner import Scanner
from skyrl_doctor.logs.judge.tally import Scan
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.read.contents import cut_blocks, open_blocks
from skyrl_doctor.logs.read.parallel import map_blocks


@record
class FileScan:
    """The scan of a file, None where it could not be read; `unread` is why the file, or the rest of it, could not be read."""

    scan: Scan | None
    unread: str = ""


def scan_file(file: str, patterns: Patterns, *, order: int = 0) -> FileScan:
    """Scan a file. The file, or its disk, may vanish meanwhile."""
    scanner = Scanner(file, patterns, order=order)
    is_begun = False
    try:
        with open_blocks(file) as blocks:
            for candidates in map_blocks(blocks, scanner.find_candidates):
                is_begun = True
                scanner.add(candidates)
    except OSError as error:
        return FileScan(scanner.snapshot() if is_begun else None, f"{file}: {error.strerror or error}")
    return FileScan(scanner.end())


def scan_chunks(file: str, chunks: Iterable[bytes], patterns: Patterns, *, order: int = 0) -> Scan:
    """Scan chunks of bytes under the name of a file."""
    scanner = Scanner(file, patterns, order=order)
    for candidates in map_blocks(cut_blocks(chunks), scanner.find_candidates):
        scanner.add(candidates)
    return scanner.end()
