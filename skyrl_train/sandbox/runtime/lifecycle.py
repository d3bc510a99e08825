"""A whole server without its HTTP side: wires its parts, takes over what another one left, and ends with nothing left."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from skyrl_train.sandbox.engine import Engine, Share
from skyrl_train.sandbox.runtime.admission import Admission
from skyrl_train.sandbox.runtime.builds import Builds
from skyrl_train.sandbox.runtime.database import Database
from skyrl_train.sandbox.runtime.exceeded_limits import ExceededLimits
from skyrl_train.sandbox.runtime.gauges import limit_gauges, session_gauges
from skyrl_train.sandbox.runtime.images import Derive, SessionImages
from skyrl_train.sandbox.runtime.inspector import Inspector
from skyrl_train.sandbox.runtime.limits import Limit
from skyrl_train.sandbox.runtime.plan import Plan
from skyrl_train.sandbox.runtime.prewarm import Prewarm
from skyrl_train.sandbox.runtime.reaper import Reaper
from skyrl_train.sandbox.runtime.reconcile import Reconciler
from skyrl_train.sandbox.runtime.remover import Remover
from skyrl_train.sandbox.runtime.sandboxes import Sandboxes
from skyrl_train.sandbox.runtime.sessions import Sessions
from skyrl_train.sandbox.runtime.settings import RuntimeSettings
from skyrl_train.sandbox.runtime.slots import Slots
from skyrl_train.sandbox.runtime.starter import Starter
from skyrl_train.sandbox.runtime.store import SessionStore
from skyrl_train.sandbox.runtime.tasks import Tasks
from skyrl_train.sandbox.runtime.telemetry import Telemetry
from skyrl_train.sandbox.runtime.watcher import Watcher


class Runtime:
    """`open`, then `sessions`, then `drain`."""

    def __init__(
        self,
        *,
        engine: Engine,
        engine_store: str,
        database: Database,
        settings: RuntimeSettings,
        plan: Plan,
        telemetry: Telemetry,
        build_directory: Path,
        now: Callable[[], float],
        derive: Derive | None = None,
        share: Share | None = None,
    ) -> None:
        """The one place where a server is put together."""
        self.settings, self.telemetry = settings, telemetry
        self.limits: tuple[Limit, ...] = ()
        """Of a sandbox, for the metrics; known when the engine is open."""
        events, metrics = telemetry.events, telemetry.metrics
        self.tasks = tasks = Tasks(events)
        self.store = store = SessionStore(database, telemetry)
        slots = Slots(settings.slots, settings.queue)
        self.admission = admission = Admission(slots, retry_after_s=settings.retry_after_s)
        self.sandboxes = sandboxes = Sandboxes(
            engine, engine_store=engine_store, store=store, telemetry=telemetry, now=now
        )
        self.remover = remover = Remover(
            store=store, sandboxes=sandboxes, admission=admission, tasks=tasks, events=events
        )
        watcher = Watcher(store=store, sandboxes=sandboxes, remover=remover, tasks=tasks)
        self.images = SessionImages(engine, store, derive)
        self.starter = starter = Starter(
            settings=settings, store=store, admission=admission, sandboxes=sandboxes, images=self.images, plan=plan,
            watcher=watcher, remover=remover, tasks=tasks, telemetry=telemetry, now=now,
        )  # fmt: skip
        prewarm = Prewarm(
            store=store, sandboxes=sandboxes, admission=admission, remover=remover, metrics=metrics, now=now
        )
        self.sessions = Sessions(
            host=settings.host, store=store, sandboxes=sandboxes, admission=admission, starter=starter,
            remover=remover, prewarm=prewarm, tasks=tasks, telemetry=telemetry, now=now,
        )  # fmt: skip
        self.builds = Builds(
            engine=engine, database=database, admission=admission, tasks=tasks, telemetry=telemetry,
            directory=build_directory,
        )  # fmt: skip
        self.exceeded_limits = ExceededLimits(store=store, sandboxes=sandboxes, telemetry=telemetry, now=now)
        self.reaper = Reaper(settings=settings, store=store, sandboxes=sandboxes, remover=remover, telemetry=telemetry)
        self.inspector = Inspector(
            settings=settings, share=share or Share(), store=store, sandboxes=sandboxes, remover=remover,
            telemetry=telemetry, now=now,
        )  # fmt: skip
        self._reconciler = Reconciler(
            host=settings.host, store=store, sandboxes=sandboxes, admission=admission, starter=starter,
            watcher=watcher, remover=remover, events=events,
        )  # fmt: skip
        metrics.add_gauges(lambda: session_gauges(database, slots))
        metrics.add_gauges(lambda: limit_gauges(self.limits))

    async def open(self) -> None:
        await self._reconciler.run()
        self.tasks.start(self.reaper.run(), "reaper")
        self.tasks.start(self.inspector.run(), "inspector")
        self.telemetry.events.add("up", slots=self.admission.slots.total, store=self.sandboxes.engine_store)

    async def drain(self, limit_s: float) -> None:
        """Starts nothing new and ends every session; the engine ends by force what is left after the limit."""
        records, events = self.store.records, self.telemetry.events
        self.admission.draining = True
        events.add("draining", sessions=len(records.live()), limit_s=limit_s)
        for record in records.live():
            await self.remover.end(record.runtime_id, "the runtime stopped because its job ended")
        try:
            async with asyncio.timeout(limit_s):
                await self.store.wait_until(lambda: not any(record.removal for record in records.all()))
        except TimeoutError:
            events.add("not drained in time", left=sum(record.removal for record in records.all()))
        await self.abandon()
        events.add("drained")

    async def abandon(self) -> None:
        """Stops all work and leaves the containers to the next server."""
        await self.tasks.cancel_all()
        await self.sandboxes.close_ports()
        self.store.records.close()
