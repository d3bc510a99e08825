"""What clients may do with sessions. Every call is safe to repeat: the answer to the first may have been lost."""

import asyncio
import secrets

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.wire import RUNTIME_ID_PREFIX, State
from skyrl_train.sandbox.runtime.ports import listen
from skyrl_train.sandbox.runtime.prewarm import Prewarm
from skyrl_train.sandbox.runtime.record import COMING_UP, Record
from skyrl_train.sandbox.runtime.refusals import (
    RefusedError,
    conflict,
    draining,
    full,
    gone,
    not_paused,
    not_ready,
    too_big,
)
from skyrl_train.sandbox.runtime.remover import remove
from skyrl_train.sandbox.runtime.sandboxes import open_door
from skyrl_train.sandbox.runtime.slots import Answer
from skyrl_train.sandbox.runtime.starter import Starter
from skyrl_train.sandbox.runtime.store import Parts
from skyrl_train.sandbox.start_request import StartRequest

_KEY_BYTES = 32
_STOP_WAIT_S = 20.0
"""Clients wait 30 s for /stop. The intent is in the book by then, and the container goes without them."""


class Sessions:
    """One server's. Raises RefusedError with the status that says why."""

    def __init__(self, parts: Parts, starter: Starter) -> None:
        self._parts = parts
        self._starter = starter
        self.prewarm = Prewarm(parts)

    def of_session(self, session_id: str) -> Record:
        return self._known(self._parts.book.of_session(session_id), session_id)

    def get(self, runtime_id: str) -> Record:
        return self._known(self._parts.book.get(runtime_id), runtime_id)

    def _known(self, record: Record | None, name: str) -> Record:
        if record is None:
            raise gone(name)
        self.touch(record)
        return record

    def touch(self, record: Record) -> None:
        door = self._parts.doors.get(record.runtime_id)
        if door is not None:
            door.seen = self._parts.now()

    async def start(self, request: StartRequest) -> Record:
        """The session's sandbox: the one it has, one made ahead, or a new one."""
        parts = self._parts
        known = parts.book.of_session(request.session_id)
        if known is not None and known.live:
            if known.request.image != request.image:
                raise conflict(known, request)
            self.touch(known)
            return known
        if parts.draining:
            raise draining()
        parts.metrics.count("starts_total")
        warm = await self.prewarm.take(request)
        record = warm or await self.begin(request, request.session_id)
        parts.events.add("start", runtime_id=record.runtime_id, session_id=request.session_id, image=request.image)
        return record

    async def begin(self, request: StartRequest, session_id: str | None) -> Record:
        """Nothing is awaited before the entry stands: two requests of one session cannot both get here."""
        parts = self._parts
        runtime_id = f"{RUNTIME_ID_PREFIX}{secrets.token_hex(8)}"
        answer = self._ask(runtime_id, request, queue=session_id is not None)
        try:
            listener = listen(parts.settings.host)
        except OSError as error:
            parts.release(runtime_id)
            raise RefusedError(503, f"no port for the sandbox on {parts.settings.host}: {error.strerror}") from error
        record = Record(
            runtime_id=runtime_id,
            session_id=session_id,
            request=request,
            state=State.QUEUED,
            key=secrets.token_urlsafe(_KEY_BYTES),
            port=listener.getsockname()[1],
            store=parts.store,
            created=parts.now(),
        )
        try:
            parts.book.announce(record)
        except TrainError as error:
            listener.close()
            parts.release(runtime_id)
            raise RefusedError(503, str(error)) from error
        await open_door(parts, record, listener)
        if answer is Answer.GRANTED:
            parts.granted[runtime_id].set()
        self._starter.begin(record)
        return record

    async def begin_ahead(self, request: StartRequest, count: int) -> int:
        """As many as there are free slots for; how many that were."""
        begun = 0
        while begun < count and request.resource_factor <= self._parts.slots.free and not self._parts.slots.waiting:
            if self._parts.draining:
                raise draining()
            await self.begin(request, None)
            begun += 1
        return begun

    def _ask(self, runtime_id: str, request: StartRequest, *, queue: bool) -> Answer:  # FIX(RUN005)
        slots, units = self._parts.slots, request.resource_factor
        if units > slots.total:
            raise too_big(units, slots.total)
        if slots.free < units and not queue:
            raise full(slots, self._parts.settings.retry_after_s)
        answer = slots.ask(runtime_id, units)
        if answer is Answer.FULL:
            raise full(slots, self._parts.settings.retry_after_s)
        if answer is Answer.QUEUED:
            self._parts.spawn(self.prewarm.make_room(), "make room")
        return answer

    async def settled(self, runtime_id: str, limit_s: float) -> Record:
        """The session when it no longer comes up, or as it is after the limit."""
        parts = self._parts
        try:
            async with asyncio.timeout(limit_s):
                await parts.until(lambda: parts.current(runtime_id).state not in COMING_UP)
        except TimeoutError:
            pass
        return parts.current(runtime_id)

    async def stop(self, runtime_id: str) -> Record:
        parts = self._parts
        record = self.get(runtime_id)
        if record.live:
            parts.events.add("stop", runtime_id=runtime_id, session_id=record.session_id)
            await parts.put(record.now(State.STOPPED, event="stopped by its client", removal=True))
        if parts.current(runtime_id).removal:
            task = parts.task(remove(parts, runtime_id), f"remove {runtime_id}")
            await asyncio.wait({task}, timeout=_STOP_WAIT_S)
        return parts.current(runtime_id)

    async def pause(self, runtime_id: str) -> Record:
        async with self._parts.locks[runtime_id]:
            record = self.get(runtime_id)
            if record.state is State.PAUSED:
                return record
            if record.state is not State.READY:
                raise not_ready(record)
            await self._parts.engine.pause(self._parts.containers[runtime_id])
            return await self._parts.put(record.now(State.PAUSED, event="paused"))

    async def resume(self, runtime_id: str) -> Record:
        async with self._parts.locks[runtime_id]:
            record = self.get(runtime_id)
            if record.state is State.READY:
                return record
            if record.state is not State.PAUSED:
                raise not_paused(record)
            await self._parts.engine.resume(self._parts.containers[runtime_id])
            return await self._parts.put(record.now(State.READY, event="resumed"))
