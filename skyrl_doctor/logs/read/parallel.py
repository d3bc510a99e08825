"""Blocks are read and looked at by other threads, while this one judges what they saw before."""

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor

from skyrl_doctor.logs.match.pieces import Seen
from skyrl_doctor.logs.read.blocks import Block

Later = Callable[[], Block]
"""Reads a block. OSError where it cannot be read."""
_FEWEST, _MOST = 2, 4
_LARGE = 31 << 20
_AHEAD = 2
"""So many blocks are seen ahead of the one that is judged, for each thread."""


def ahead(
    blocks: Iterator[Later], look: Callable[[Block], Seen], pool: Callable[[int], Executor] = ThreadPoolExecutor
) -> Iterator[Seen]:
    """What is seen in each block, in order. A file of one block needs no threads; where none can begin, it goes without."""
    first, second = next(blocks, None), next(blocks, None)
    if first is not None:
        yield look(first())
    if second is None:
        return
    _keep_freed()
    number = max(_FEWEST, min(_MOST, len(os.sched_getaffinity(0))))
    with pool(number) as threads:
        hands = _Hands(threads, look)
        pending = deque([hands.take(second)])
        for later in blocks:
            pending.append(hands.take(later))
            if len(pending) > _AHEAD * number:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _keep_freed() -> None:
    """glibc gives back what is freed until it has seen a larger piece freed: else each block is paged in anew."""
    with contextlib.suppress(MemoryError):
        bytes(_LARGE)


class _Hands:
    """Threads, until one cannot be begun: a limit of processes or of memory is no reason to say nothing."""

    def __init__(self, threads: Executor, look: Callable[[Block], Seen]) -> None:
        self._threads: Executor | None = threads
        self._look = look

    def take(self, later: Later) -> Future[Seen]:
        if self._threads is not None:
            try:
                return self._threads.submit(self._both, later)
            except RuntimeError:
                self._threads = None
        done: Future[Seen] = Future()
        try:
            done.set_result(self._both(later))
        except OSError as error:
            done.set_exception(error)
        return done

    def _both(self, later: Later) -> Seen:
        return self._look(later())
