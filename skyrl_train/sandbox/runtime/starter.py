"""Brings one session up: slot, image, container, first answer of its agent server."""

import asyncio
from enum import Enum, auto

from skyrl_train.sandbox.inject import ImageFacts, InjectionError
from skyrl_train.sandbox.runtime.book import BookError
from skyrl_train.sandbox.runtime.engine import Container, EngineError, EngineUnsureError, ImageAbsentError
from skyrl_train.sandbox.runtime.health import wait_until_healthy
from skyrl_train.sandbox.runtime.parts import Parts
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.remover import remove
from skyrl_train.sandbox.runtime.watcher import watch, why_ended
from skyrl_train.sandbox.wire import State

_AGAIN_S = 0.5


class Outcome(Enum):
    READY = auto()
    OVER = auto()
    """It failed, or somebody ended it meanwhile."""
    AGAIN = auto()


class Starter:
    """`begin` answers at once; the session's state says how far it is."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._at_once = asyncio.Semaphore(parts.settings.starts_at_once)

    def begin(self, record: Record) -> None:
        self._parts.spawn(self._bring_up(record.runtime_id), f"start {record.runtime_id}")

    async def _bring_up(self, runtime_id: str) -> None:
        parts = self._parts
        begun = parts.now()
        await parts.granted[runtime_id].wait()
        try:
            async with asyncio.timeout(parts.settings.start_limit_s):
                outcome = await self._attempts(runtime_id)
        except TimeoutError:
            last = parts.current(runtime_id)
            outcome = Outcome.OVER
            limit = parts.settings.start_limit_s
            await parts.fail(runtime_id, f"not ready within {limit:g} s ({last.state}); {_last_event(last)}")
        if outcome is Outcome.READY:
            parts.metrics.count("ready_total")
            parts.metrics.started(parts.now() - begun)
            return
        if parts.current(runtime_id).removal:
            await remove(parts, runtime_id)

    async def _attempts(self, runtime_id: str) -> Outcome:
        parts = self._parts
        for attempt in range(parts.settings.attempts):
            if attempt:
                await asyncio.sleep(_AGAIN_S * attempt)
            async with parts.locks[runtime_id]:
                outcome = await self._attempt(runtime_id)
            if outcome is not Outcome.AGAIN:
                return outcome
        last = parts.current(runtime_id)
        await parts.fail(runtime_id, f"not started in {parts.settings.attempts} attempts; {_last_event(last)}")
        return Outcome.OVER

    async def _attempt(self, runtime_id: str) -> Outcome:
        """Only while the session is wanted: who ends it meanwhile only says so in the book."""
        parts = self._parts
        record = parts.current(runtime_id)
        if not record.live:
            return Outcome.OVER
        try:
            image = await self._image(record)
            async with self._at_once:
                return await self._started(runtime_id, image)
        except EngineUnsureError as error:
            parts.metrics.count("engine_unsure_total")
            parts.events.add("again", runtime_id=runtime_id, cause=str(error))
            now = parts.current(runtime_id)
            if now.live:
                await parts.put(now.now(State.STARTING, event=f"again: {error}", restarts=now.restarts + 1))
            return Outcome.AGAIN
        except (EngineError, InjectionError, BookError) as error:
            await parts.fail(runtime_id, str(error), await parts.logs(runtime_id))
            return Outcome.OVER

    async def _started(self, runtime_id: str, image: ImageFacts) -> Outcome:
        parts = self._parts
        if parts.current(runtime_id).restarts:  # what came of the attempt before is not known
            await parts.engine.remove(runtime_id)
        record = parts.current(runtime_id)
        if not record.live:
            return Outcome.OVER
        spec = parts.plan(record, image)
        parts.book.announce(record.now(State.STARTING))
        container = await parts.engine.start(spec)
        parts.containers[runtime_id] = container
        return await self._first_answer(container)

    async def _image(self, record: Record) -> ImageFacts:
        """Podman's own pull at the start of a container would hold up everything behind it."""
        engine, image, policy = self._parts.engine, record.request.image, record.request.image_pull_policy
        found = await engine.image(image)
        if found is not None and policy != "Always":
            return found
        if policy == "Never":
            raise ImageAbsentError(f"image {image} is not in the store, and image_pull_policy is Never")
        if self._parts.current(record.runtime_id).live:
            await self._parts.put(record.now(State.PULLING, event=f"pulling {image}"))
        await engine.pull(image)
        pulled = await engine.image(image)
        if pulled is None:
            raise ImageAbsentError(f"image {image} was pulled, and is not in the store")
        return pulled

    async def _first_answer(self, container: Container) -> Outcome:
        parts, runtime_id = self._parts, container.name
        ended = asyncio.ensure_future(parts.engine.ended(container))
        healthy = asyncio.ensure_future(wait_until_healthy(lambda: parts.engine.connect(container)))
        unwanted = asyncio.ensure_future(parts.until(lambda: not parts.current(runtime_id).live))
        waits: set[asyncio.Future[None]] = {ended, healthy, unwanted}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if healthy.done():
                healthy.result()
            elif ended.done():
                await parts.fail(runtime_id, await why_ended(parts, runtime_id), await parts.logs(runtime_id))
        finally:
            for wait in waits:
                wait.cancel()
        record = parts.current(runtime_id)
        if not record.live:
            return Outcome.OVER
        await parts.put(record.now(State.READY, event="ready"))
        parts.events.add("ready", runtime_id=runtime_id, session_id=record.session_id)
        parts.spawn(watch(parts, container), f"watch {runtime_id}")
        return Outcome.READY


def _last_event(record: Record) -> str:
    return record.events[-1] if record.events else "nothing was heard of it"
