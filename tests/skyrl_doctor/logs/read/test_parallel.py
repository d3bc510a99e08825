"""Blocks that other threads look at come back in order, whatever fails."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from skyrl_doctor.logs.read.blocks import Block, BlockReader
from skyrl_doctor.logs.read.parallel import map_blocks


class NoThreads(ThreadPoolExecutor):
    """As where a limit of processes is reached: `allowed` begin before that."""

    def __init__(self, allowed: int) -> None:
        super().__init__(1)
        self._allowed = allowed

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if not self._allowed:
            raise RuntimeError("can't start new thread")
        self._allowed -= 1
        return super().submit(fn, *args, **kwargs)


def blocks(count: int, *, broken: int = -1) -> Iterator[BlockReader]:
    return (partial(block, number, broken=broken) for number in range(count))


def block(number: int, *, broken: int) -> Block:
    if number == broken:
        raise OSError("gone")
    return Block(number, b"x\n")


def place(found: Block) -> tuple[int, bytes]:
    return found.start, found.data


@pytest.mark.parametrize("count", [0, 1, 2, 3, 40])
@pytest.mark.parametrize("allowed", [0, 1, 5, 99])
def test_blocks_come_in_order_with_all_some_or_no_threads(count: int, allowed: int) -> None:
    seen = map_blocks(blocks(count), place, lambda _: NoThreads(allowed))
    assert [start for start, _ in seen] == list(range(count))


@pytest.mark.parametrize("broken", [0, 1, 7])
@pytest.mark.parametrize("allowed", [0, 99])
def test_what_cannot_be_read_is_told_after_what_was(broken: int, allowed: int) -> None:
    seen = map_blocks(blocks(20, broken=broken), place, lambda _: NoThreads(allowed))
    assert [next(seen)[0] for _ in range(broken)] == list(range(broken))
    with pytest.raises(OSError, match="gone"):
        next(seen)


def test_no_thread_is_left_when_nobody_asks_on() -> None:
    before = threading.active_count()
    seen = map_blocks(blocks(40), place)
    next(seen)
    next(seen)
    seen.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
