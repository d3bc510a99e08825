"""A whole server without its HTTP side: comes up over what another one left, and ends with nothing left."""

import asyncio

from skyrl_train.sandbox.runtime.builds import Builds
from skyrl_train.sandbox.runtime.reaper import end, reap_for_ever
from skyrl_train.sandbox.runtime.reconcile import reconcile
from skyrl_train.sandbox.runtime.remover import close_door
from skyrl_train.sandbox.runtime.sessions import Sessions
from skyrl_train.sandbox.runtime.starter import Starter
from skyrl_train.sandbox.runtime.store import Parts


class Running:
    """`open`, then `sessions`, then `drain`."""

    def __init__(self, parts: Parts, builds: Builds) -> None:
        self.parts = parts
        self.builds = builds
        starter = Starter(parts)
        self.sessions = Sessions(parts, starter)
        self._starter = starter

    async def open(self) -> None:
        await reconcile(self.parts, self._starter)
        self.parts.spawn(reap_for_ever(self.parts), "reaper")
        self.parts.events.add("up", slots=self.parts.slots.total, store=self.parts.store)

    async def drain(self, limit_s: float) -> None:
        """Nothing new; every sandbox goes; what does not go in time, the engine ends by force."""
        parts = self.parts
        parts.draining = True
        parts.events.add("draining", sessions=len(parts.book.live()), limit_s=limit_s)
        for record in parts.book.live():
            await end(parts, record.runtime_id, "the runtime ended: its job is over")
        try:
            async with asyncio.timeout(limit_s):
                await parts.until(lambda: not any(record.removal for record in parts.book.all()))
        except TimeoutError:
            left = sum(record.removal for record in parts.book.all())
            parts.events.add("not drained in time", left=left)
        await self.abandon()
        parts.events.add("drained")

    async def abandon(self) -> None:
        """Lets go of everything and leaves the containers to the next server."""
        tasks = tuple(self.parts.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for runtime_id in tuple(self.parts.doors):
            await close_door(self.parts, runtime_id)
        self.parts.book.close()
