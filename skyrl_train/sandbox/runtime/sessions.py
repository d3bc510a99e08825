"""The operations on sessions. Each is safe to repeat: the answer to the first call may have been lost."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.wire import RUNTIME_ID_PREFIX, State
from skyrl_train.sandbox.runtime.admission import Admission
from skyrl_train.sandbox.runtime.ports import listen
from skyrl_train.sandbox.runtime.prewarm import Prewarm
from skyrl_train.sandbox.runtime.record import COMING_UP, Record
from skyrl_train.sandbox.runtime.refusals import RefusedError, conflict, gone, not_paused, not_ready
from skyrl_train.sandbox.runtime.remover import Remover
from skyrl_train.sandbox.runtime.sandboxes import Sandboxes
from skyrl_train.sandbox.runtime.slots import SlotDecision
from skyrl_train.sandbox.runtime.starter import Starter
from skyrl_train.sandbox.runtime.store import SessionStore
from skyrl_train.sandbox.runtime.tasks import Tasks
from skyrl_train.sandbox.runtime.telemetry import Telemetry
from skyrl_train.sandbox.start_request import StartRequest

_KEY_BYTES = 32
_STOP_WAIT_S = 20.0
"""Clients wait 30 s for /stop. The record has `removal` by then, and the removal continues without them."""


@dataclass(frozen=True, kw_only=True)
class Sessions:
    """The sessions of one server. Raises RefusedError."""

    host: str
    """The address of the sandboxes' ports."""
    store: SessionStore
    sandboxes: Sandboxes
    admission: Admission
    starter: Starter
    remover: Remover
    prewarm: Prewarm
    tasks: Tasks
    telemetry: Telemetry
    now: Callable[[], float]

    def of_session(self, session_id: str) -> Record:
        return self._touched(self.store.records.of_session(session_id), session_id)

    def get(self, runtime_id: str) -> Record:
        return self._touched(self.store.records.get(runtime_id), runtime_id)

    def _touched(self, record: Record | None, name: str) -> Record:
        if record is None:
            raise gone(name)
        self.sandboxes.touch(record.runtime_id)
        return record

    async def start(self, request: StartRequest) -> Record:
        """The session's sandbox: the one it has, a prewarmed one, or a new one."""
        known = self.store.records.of_session(request.session_id)
        if known is not None and known.live:
            if known.request.image != request.image:
                raise conflict(known, request)
            self.sandboxes.touch(known.runtime_id)
            return known
        self.admission.refuse_if_draining()
        self.telemetry.metrics.starts.inc()
        warm = await self.prewarm.take(request)
        record = warm or await self._begin(request, request.session_id)
        names = {"runtime_id": record.runtime_id, "session_id": request.session_id}
        self.telemetry.events.add("start", **names, image=request.image)
        return record

    async def start_ahead(self, request: StartRequest, count: int) -> int:
        """Starts up to `count` sandboxes in free slots; returns how many."""
        begun, slots = 0, self.admission.slots
        while begun < count and request.resource_factor <= slots.free and not slots.waiting:
            self.admission.refuse_if_draining()
            await self._begin(request, None)
            begun += 1
        return begun

    async def _begin(self, request: StartRequest, session_id: str | None) -> Record:
        """Nothing is awaited before the record is written: two requests of one session cannot both get here."""
        runtime_id = f"{RUNTIME_ID_PREFIX}{secrets.token_hex(8)}"
        decision = self.admission.admit(runtime_id, request.resource_factor, queue=session_id is not None)
        if decision is SlotDecision.QUEUED:
            self.tasks.start(self.prewarm.make_room(), "make room")
        try:
            listener = listen(self.host)
        except OSError as error:
            self.admission.release(runtime_id)
            raise RefusedError(503, f"cannot open a port for the sandbox on {self.host}: {error.strerror}") from error
        record = Record(
            runtime_id=runtime_id,
            session_id=session_id,
            request=request,
            state=State.QUEUED,
            key=secrets.token_urlsafe(_KEY_BYTES),
            port=listener.getsockname()[1],
            store=self.sandboxes.engine_store,
            created=self.now(),
        )
        try:
            self.store.records.announce(record)
        except TrainError as error:
            listener.close()
            self.admission.release(runtime_id)
            raise RefusedError(503, str(error)) from error
        await self.sandboxes.open_port(record, listener)
        self.starter.begin(record)
        return record

    async def settled(self, runtime_id: str, limit_s: float) -> Record:
        """The session when it has started or failed, or as it is after the limit."""
        try:
            async with asyncio.timeout(limit_s):
                await self.store.wait_until(lambda: self.store.current(runtime_id).state not in COMING_UP)
        except TimeoutError:
            pass
        return self.store.current(runtime_id)

    async def stop(self, runtime_id: str) -> Record:
        record = self.get(runtime_id)
        if record.live:
            self.telemetry.events.add("stop", runtime_id=runtime_id, session_id=record.session_id)
            await self.store.put(record.now(State.STOPPED, event="stopped by its client", removal=True))
        if self.store.current(runtime_id).removal:
            await self.remover.begin_and_wait(runtime_id, limit_s=_STOP_WAIT_S)
        return self.store.current(runtime_id)

    async def pause(self, runtime_id: str) -> Record:
        async with self.sandboxes.locks[runtime_id]:
            record = self.get(runtime_id)
            if record.state is State.PAUSED:
                return record
            if record.state is not State.READY:
                raise not_ready(record)
            await self.sandboxes.engine.pause(self.sandboxes.containers[runtime_id])
            return await self.store.put(self.store.current(runtime_id).now(State.PAUSED, event="paused"))

    async def resume(self, runtime_id: str) -> Record:
        async with self.sandboxes.locks[runtime_id]:
            record = self.get(runtime_id)
            if record.state is State.READY:
                return record
            if record.state is not State.PAUSED:
                raise not_paused(record)
            await self.sandboxes.engine.resume(self.sandboxes.containers[runtime_id])
            return await self.store.put(self.store.current(runtime_id).now(State.READY, event="resumed"))
