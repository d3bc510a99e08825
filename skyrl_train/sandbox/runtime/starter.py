"""Brings one session up: slot, image, container, first answer of its agent server."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.inject import ImageFacts, InjectionError
from skyrl_train.sandbox.runtime.admission import Admission
from skyrl_train.sandbox.runtime.database import DatabaseError
from skyrl_train.sandbox.runtime.engine import BuildFailedError, Container, EngineError, EngineUnsureError
from skyrl_train.sandbox.runtime.health import wait_until_healthy
from skyrl_train.sandbox.runtime.images import SessionImages
from skyrl_train.sandbox.runtime.plan import Plan
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.remover import Remover
from skyrl_train.sandbox.runtime.sandboxes import Sandboxes
from skyrl_train.sandbox.runtime.settings import RuntimeSettings
from skyrl_train.sandbox.runtime.store import SessionStore
from skyrl_train.sandbox.runtime.tasks import Tasks
from skyrl_train.sandbox.runtime.telemetry import Telemetry
from skyrl_train.sandbox.runtime.watcher import Watcher, why_ended

_AGAIN_S = 0.5


class Outcome(Enum):
    READY = auto()
    OVER = auto()
    """It failed, or its client ended it meanwhile."""
    AGAIN = auto()


@dataclass(kw_only=True)
class Starter:
    """`begin` returns at once; the session's state shows the progress."""

    settings: RuntimeSettings
    store: SessionStore
    admission: Admission
    sandboxes: Sandboxes
    images: SessionImages
    plan: Plan
    watcher: Watcher
    remover: Remover
    tasks: Tasks
    telemetry: Telemetry
    now: Callable[[], float]
    _at_once: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._at_once = asyncio.Semaphore(self.settings.starts_at_once)

    def begin(self, record: Record) -> None:
        self.tasks.start(self._bring_up(record.runtime_id), f"start {record.runtime_id}")

    async def _bring_up(self, runtime_id: str) -> None:
        begun = self.now()
        await self.admission.wait_granted(runtime_id)
        try:
            async with asyncio.timeout(self.settings.start_limit_s):
                outcome = await self._attempts(runtime_id)
        except TimeoutError:
            last = self.store.current(runtime_id)
            outcome = Outcome.OVER
            limit = self.settings.start_limit_s
            await self.store.fail(runtime_id, f"not ready within {limit:g} s ({last.state}); {_last_event(last)}")
        if outcome is Outcome.READY:
            self.telemetry.metrics.ready.inc()
            self.telemetry.metrics.start_seconds.observe(self.now() - begun)
            return
        if self.store.current(runtime_id).removal:
            await self.remover.remove(runtime_id)

    async def _attempts(self, runtime_id: str) -> Outcome:
        attempts = self.settings.attempts
        for attempt in range(attempts):
            if attempt:
                await asyncio.sleep(_AGAIN_S * attempt)
            async with self.sandboxes.locks[runtime_id]:
                outcome = await self._attempt(runtime_id)
            if outcome is not Outcome.AGAIN:
                return outcome
        last = self.store.current(runtime_id)
        await self.store.fail(runtime_id, f"not started in {attempts} attempts; {_last_event(last)}")
        return Outcome.OVER

    async def _attempt(self, runtime_id: str) -> Outcome:
        """Only while the session is live: a client that ends it meanwhile changes its record, and nothing else."""
        record = self.store.current(runtime_id)
        if not record.live:
            return Outcome.OVER
        try:
            name, image = await self.images.prepare(record)
            async with self._at_once:
                return await self._started(runtime_id, name, image)
        except EngineUnsureError as error:
            self.telemetry.metrics.engine_unsure.inc()
            self.telemetry.events.add("again", runtime_id=runtime_id, cause=str(error))
            current = self.store.current(runtime_id)
            if current.live:
                event, restarts = f"again: {error}", current.restarts + 1
                await self.store.put(current.now(State.STARTING, event=event, restarts=restarts))
            return Outcome.AGAIN
        except BuildFailedError as error:
            await self.store.fail(runtime_id, str(error), error.log)
            return Outcome.OVER
        except (EngineError, InjectionError, DatabaseError) as error:
            await self.store.fail(runtime_id, str(error), await self.sandboxes.logs(runtime_id))
            return Outcome.OVER

    async def _started(self, runtime_id: str, name: str, image: ImageFacts) -> Outcome:
        engine = self.sandboxes.engine
        if self.store.current(runtime_id).restarts:  # what the attempt before left is not known
            await engine.remove(runtime_id)
        record = self.store.current(runtime_id)
        if not record.live:
            return Outcome.OVER
        spec = replace(self.plan(record, image), image=name)
        self.store.records.announce(record.now(State.STARTING))
        container = await engine.start(spec)
        self.sandboxes.containers[runtime_id] = container
        return await self._first_answer(container)

    async def _first_answer(self, container: Container) -> Outcome:
        store, engine, runtime_id = self.store, self.sandboxes.engine, container.name
        ended = asyncio.ensure_future(engine.ended(container))
        healthy = asyncio.ensure_future(wait_until_healthy(lambda: engine.connect(container)))
        unwanted = asyncio.ensure_future(store.wait_until(lambda: not store.current(runtime_id).live))
        waits: set[asyncio.Future[None]] = {ended, healthy, unwanted}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if healthy.done():
                healthy.result()
            elif ended.done():
                cause = await why_ended(engine, runtime_id)
                await store.fail(runtime_id, cause, await self.sandboxes.logs(runtime_id))
        finally:
            for wait in waits:
                wait.cancel()
        record = store.current(runtime_id)
        if not record.live:
            return Outcome.OVER
        await store.put(record.now(State.READY, event="ready"))
        self.telemetry.events.add("ready", runtime_id=runtime_id, session_id=record.session_id)
        self.watcher.begin(container)
        return Outcome.READY


def _last_event(record: Record) -> str:
    return record.events[-1] if record.events else "nothing was heard of it"
