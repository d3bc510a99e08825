"""Brings one session up: slot, image, container, first answer of its agent server."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from enum import Enum, auto

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.inject import ImageFacts, InjectionError
from skyrl_train.sandbox.runtime.database import BookError
from skyrl_train.sandbox.runtime.engine import (
    BuildFailedError,
    Container,
    EngineError,
    EngineUnsureError,
    ImageAbsentError,
)
from skyrl_train.sandbox.runtime.health import wait_until_healthy
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.remover import remove
from skyrl_train.sandbox.runtime.store import Parts
from skyrl_train.sandbox.runtime.watcher import watch, why_ended

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
            name, image = await self._image(record)
            async with self._at_once:
                return await self._started(runtime_id, name, image)
        except EngineUnsureError as error:
            parts.metrics.count("engine_unsure_total")
            parts.events.add("again", runtime_id=runtime_id, cause=str(error))
            now = parts.current(runtime_id)
            if now.live:
                await parts.put(now.now(State.STARTING, event=f"again: {error}", restarts=now.restarts + 1))
            return Outcome.AGAIN
        except BuildFailedError as error:
            await parts.fail(runtime_id, str(error), error.log)
            return Outcome.OVER
        except (EngineError, InjectionError, BookError) as error:
            await parts.fail(runtime_id, str(error), await parts.logs(runtime_id))
            return Outcome.OVER

    async def _started(self, runtime_id: str, name: str, image: ImageFacts) -> Outcome:
        parts = self._parts
        if parts.current(runtime_id).restarts:  # what came of the attempt before is not known
            await parts.engine.remove(runtime_id)
        record = parts.current(runtime_id)
        if not record.live:
            return Outcome.OVER
        spec = replace(parts.plan(record, image), image=name)
        parts.book.announce(record.now(State.STARTING))
        container = await parts.engine.start(spec)
        parts.containers[runtime_id] = container
        return await self._first_answer(container)

    async def _image(self, record: Record) -> tuple[str, ImageFacts]:
        """What the container is made from, and under which name."""
        name, base = await self._base(record)
        if self._parts.derive is None:
            return name, base
        return await self._derived(record.runtime_id, name, base, self._parts.derive)

    async def _base(self, record: Record) -> tuple[str, ImageFacts]:
        """Podman's own pull at the start of a container would hold up everything behind it."""
        engine, image, policy = self._parts.engine, record.request.image, record.request.image_pull_policy
        found = await engine.image(image)
        if found is not None and policy != "Always":
            return image, found
        if policy == "Never":
            raise ImageAbsentError(f"image {image} is not in the store, and image_pull_policy is Never")
        await self._says(record.runtime_id, State.PULLING, f"fetching {image}")
        name = await engine.fetch(image, again=policy == "Always")
        fetched = await engine.image(name)
        if fetched is None:
            raise ImageAbsentError(f"image {name} was fetched, and is not in the store")
        return name, fetched

    async def _derived(
        self, runtime_id: str, base: str, facts: ImageFacts, derive: Callable[[ImageFacts], str]
    ) -> tuple[str, ImageFacts]:
        """The image with the agent server built in: the one that is there, or a new one."""
        engine, name = self._parts.engine, derive(facts)
        found = await engine.image(name)
        if found is not None:
            return name, found
        await self._says(runtime_id, State.BUILDING, f"building the agent server into {base}")
        await engine.build(base)
        built = await engine.image(name)
        if built is None:
            raise BuildFailedError(f"{name} was built, and is not in the store")
        return name, built

    async def _says(self, runtime_id: str, state: State, event: str) -> None:
        record = self._parts.current(runtime_id)
        if record.live:
            await self._parts.put(record.now(state, event=event))

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
