"""Calls something that may never return, and waits for it no longer than a limit.

A thread that a dead file system holds cannot be ended: it is a daemon thread, and it is given up.
"""

import functools
import queue
import threading
from collections.abc import Callable
from typing import NoReturn, TypeVar

from skyrl_doctor.core.errors import CouldNotLook

T = TypeVar("T")


def call_within(limit_s: float, work: Callable[[], T], who: str) -> T:
    """The result of `work`, or what it raises; CouldNotLook where it takes longer than the limit."""
    if limit_s <= 0:
        raise CouldNotLook(f"{who} was not reached before the deadline")
    results: queue.SimpleQueue[Callable[[], T]] = queue.SimpleQueue()

    def call() -> None:
        try:
            value = call_contained(work)
        except BaseException as error:  # handed to the caller, who raises it
            results.put(functools.partial(_raise, error))
        else:
            results.put(lambda: value)

    try:
        threading.Thread(target=call, name=who, daemon=True).start()
    except RuntimeError:  # no thread to be had: the process limit itself is what ENV008 looks for
        return work()
    try:
        result = results.get(timeout=limit_s)
    except queue.Empty:
        raise CouldNotLook(f"{who} gave no answer within its limit of {limit_s:.3g} s") from None
    return result()


def call_contained(work: Callable[[], T]) -> T:
    """Calls `work` in a thread that is its own: no signal comes there, so what would end a program is a crash of `work`."""
    try:
        return work()
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        raise RuntimeError(f"it raised {type(error).__name__}") from error


def _raise(error: BaseException) -> NoReturn:
    raise error
