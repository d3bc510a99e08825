"""Reads and processes blocks in threads, ahead of the caller, and returns the results in order."""

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from skyrl_doctor.logs.read.blocks import Block, BlockReader

T = TypeVar("T")
MIN_THREADS, MAX_THREADS = 2, 4
BLOCKS_AHEAD = 2
"""Blocks that each thread may be ahead of the caller."""
_LARGE = 31 << 20


def map_blocks(
    readers: Iterator[BlockReader],
    process: Callable[[Block], T],
    make_pool: Callable[[int], Executor] = ThreadPoolExecutor,
) -> Iterator[T]:
    """Yield `process(block)` for each block, in order. One block needs no threads, and threads that cannot start are not needed."""
    first, second = next(readers, None), next(readers, None)
    if first is not None:
        yield process(first())
    if second is None:
        return
    _raise_trim_threshold()
    threads = max(MIN_THREADS, min(MAX_THREADS, len(os.sched_getaffinity(0))))
    with make_pool(threads) as pool:
        workers = _Workers(pool, process)
        pending = deque([workers.submit(second)])
        for reader in readers:
            pending.append(workers.submit(reader))
            if len(pending) > BLOCKS_AHEAD * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _raise_trim_threshold() -> None:
    """Free one large piece of memory: from then on glibc keeps freed blocks, and they are not paged in again."""
    with contextlib.suppress(MemoryError):
        bytes(_LARGE)


class _Workers(Generic[T]):
    """Runs in threads until one cannot be started (a limit of processes or memory), and in the caller's thread from then on."""

    def __init__(self, pool: Executor, process: Callable[[Block], T]) -> None:
        self._pool: Executor | None = pool
        self._process = process

    def submit(self, reader: BlockReader) -> Future[T]:
        if self._pool is not None:
            try:
                return self._pool.submit(self._run, reader)
            except RuntimeError:
                self._pool = None
        done: Future[T] = Future()
        try:
            done.set_result(self._run(reader))
        except OSError as error:
            done.set_exception(error)
        return done

    def _run(self, reader: BlockReader) -> T:
        return self._process(reader())
