"""Runs a command's coroutine so that it cleans up when a signal ends it."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from skyrl_train.contracts.command_line import ENDS, Terminated

T = TypeVar("T")


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """asyncio.run, where SIGTERM and SIGHUP cancel the work as Ctrl-C does.

    An exception raised by a signal handler would surface in the callback that happens to run, and be lost there.
    """
    received: list[int] = []

    async def watched() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def stop(number: int) -> None:
            received.append(number)
            task.cancel()

        for number in ENDS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, stop, number)
        return await work

    try:
        return asyncio.run(watched())
    except asyncio.CancelledError:
        if received:
            raise Terminated(received[0]) from None
        raise
