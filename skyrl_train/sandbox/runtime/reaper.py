"""Removes expired sessions and containers without a session.

A session's client may have been killed at any moment. A client that lives asks for its session or is connected to its
port; one that did neither for the idle limit counts as dead.
"""

import asyncio
from dataclasses import dataclass

from skyrl_train.contracts.errors import TrainError
from skyrl_train.sandbox.runtime.record import COMING_UP
from skyrl_train.sandbox.runtime.remover import Remover
from skyrl_train.sandbox.runtime.sandboxes import Sandboxes
from skyrl_train.sandbox.runtime.settings import RuntimeSettings
from skyrl_train.sandbox.runtime.store import SessionStore
from skyrl_train.sandbox.runtime.telemetry import Telemetry


@dataclass(frozen=True, kw_only=True)
class Reaper:
    settings: RuntimeSettings
    store: SessionStore
    sandboxes: Sandboxes
    remover: Remover
    telemetry: Telemetry

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self.settings.reap_every_s)
            await self.reap()

    async def reap(self) -> None:
        records = self.store.records
        records.write_again()
        records.forget_old()
        for record in records.live():
            if record.state in COMING_UP:
                continue
            idle = self.sandboxes.idle_s(record.runtime_id)
            if idle > self.settings.idle_limit_s:
                self.telemetry.metrics.reaped.inc()
                await self.remover.end(record.runtime_id, f"left by its client: nobody came for {idle:.0f} s")
        await self._sweep()

    async def _sweep(self) -> None:
        """A call without an answer may still take effect, long after its session was given up."""
        try:
            await self.remover.remove_unknown(await self.sandboxes.engine.all())
        except TrainError as error:
            self.telemetry.events.add("not swept", cause=str(error))
