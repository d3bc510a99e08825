"""Scans a whole file: the engine looks at some blocks in other threads while this one reads on and judges what was seen."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from skyrl_doctor.logs.blocks import Block, Blocks
from skyrl_doctor.logs.patterns import Patterns
from skyrl_doctor.logs.scan import Scan, Scanner, Seen

THREADS = 2
_AHEAD = 8
"""So many blocks are read ahead of the one that is judged."""


def scan(file: str, chunks: Iterable[bytes], patterns: Patterns, *, order: int = 0) -> Scan:
    """All that the file holds. A file of one block needs no threads."""
    scanner = Scanner(file, patterns, order=order)
    blocks = _blocks(chunks)
    first = next(blocks, None)
    if first is None:
        return scanner.snapshot()
    scanner.take(Seen.of(first, patterns))
    second = next(blocks, None)
    if second is None:
        return scanner.snapshot()
    with ThreadPoolExecutor(THREADS) as threads:
        pending: deque[Future[Seen]] = deque([threads.submit(Seen.of, second, patterns)])
        for block in blocks:
            pending.append(threads.submit(Seen.of, block, patterns))
            if len(pending) > _AHEAD:
                scanner.take(pending.popleft().result())
        while pending:
            scanner.take(pending.popleft().result())
    return scanner.snapshot()


def _blocks(chunks: Iterable[bytes]) -> Iterator[Block]:
    blocks = Blocks()
    for chunk in chunks:
        yield from blocks.feed(chunk)
    yield from blocks.finish()
