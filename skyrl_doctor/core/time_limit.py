"""Calls a function that may never return, and waits for it up to a time limit.

A thread that hangs on a dead file system cannot be ended. It is a daemon thread, and it is abandoned.
"""

import functools
import queue
import threading
from collections.abc import Callable
from typing import NoReturn, TypeVar

from skyrl_doctor.core.errors import CouldNotLook

T = TypeVar("T")


def call_within(limit_s: float, work: Callable[[], T], who: str) -> T:
    """Returns what `work` returns and raises what it raises. Raises CouldNotLook after the time limit."""
    if limit_s <= 0:
        raise CouldNotLook(f"{who} did not start before the deadline")
    results: queue.SimpleQueue[Callable[[], T]] = queue.SimpleQueue()

    def call() -> None:
        try:
            value = call_contained(work)
        except BaseException as error:  # raised again in the caller's thread
            results.put(functools.partial(_raise, error))
        else:
            results.put(lambda: value)

    try:
        threading.Thread(target=call, name=who, daemon=True).start()
    except RuntimeError:  # no thread available: ENV008 checks this limit and must still run
        return work()
    try:
        result = results.get(timeout=limit_s)
    except queue.Empty:
        raise CouldNotLook(f"{who} timed out after {limit_s:.3g} s") from None
    return result()


def call_contained(work: Callable[[], T]) -> T:
    """Calls `work` and turns SystemExit and the like into RuntimeError: in a worker thread they would end nothing."""
    try:
        return work()
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        raise RuntimeError(f"it raised {type(error).__name__}") from error


def _raise(error: BaseException) -> NoReturn:
    raise error
