"""The background tasks of one server."""

import asyncio
from collections.abc import Coroutine

from skyrl_train.sandbox.runtime.events import Events


class Tasks:
    """Keeps each task until it ends. A task that crashes becomes an event."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[object, object, None], name: str) -> None:
        _ = self._started(work, name)

    async def start_and_wait(self, work: Coroutine[object, object, None], name: str, *, limit_s: float) -> None:
        """Returns when it ends or after the limit; it goes on then."""
        await asyncio.wait({self._started(work, name)}, timeout=limit_s)

    def _started(self, work: Coroutine[object, object, None], name: str) -> "asyncio.Future[None]":
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def cancel_all(self) -> None:
        running = tuple(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._events.add("crashed", task=task.get_name(), error=repr(task.exception()))
