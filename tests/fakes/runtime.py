"""A server over an engine in memory, spoken to as clients do."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from fakes.engine import IMAGE, FakeEngine
from skyrl_train.sandbox.runtime.admission import Admission
from skyrl_train.sandbox.runtime.app import application
from skyrl_train.sandbox.runtime.database import Database
from skyrl_train.sandbox.runtime.events import Events
from skyrl_train.sandbox.runtime.lifecycle import Runtime
from skyrl_train.sandbox.runtime.metrics import Metrics
from skyrl_train.sandbox.runtime.plan import by_mount, planner
from skyrl_train.sandbox.runtime.settings import RuntimeSettings
from skyrl_train.sandbox.runtime.store import SessionStore
from skyrl_train.sandbox.runtime.telemetry import Telemetry

KEY = "the-key-of-this-job"
SETTINGS = RuntimeSettings(slots=4, queue=2, hold_s=5.0, start_limit_s=5.0, reap_every_s=3600.0)


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@dataclass(kw_only=True)
class Server:
    runtime: Runtime
    engine: FakeEngine
    client: httpx.AsyncClient
    clock: Clock

    @property
    def store(self) -> SessionStore:
        return self.runtime.store

    @property
    def admission(self) -> Admission:
        return self.runtime.admission

    async def start(self, session_id: str = "s1", **more: Any) -> dict[str, Any]:
        answer = await self.client.post("/start", json={"image": IMAGE, "session_id": session_id, **more})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def session(self, session_id: str) -> dict[str, Any]:
        return dict((await self.client.get(f"/sessions/{session_id}")).json())

    async def do(self, what: str, runtime_id: str) -> httpx.Response:
        return await self.client.post(f"/{what}", json={"runtime_id": runtime_id})

    def told(self, event: str) -> list[dict[str, Any]]:
        return [dict(entry) for entry in self.runtime.telemetry.events.after(0) if entry["event"] == event]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not condition():
                await asyncio.sleep(0)


@asynccontextmanager
async def serving(
    directory: Path, engine: FakeEngine | None = None, *, store: str = "/store", **changes: Any
) -> AsyncIterator[Server]:
    """Ends as a killed server does: nothing is drained, the book and the containers stay."""
    settings = replace(SETTINGS, **changes)
    clock, engine = Clock(), engine or FakeEngine()
    runtime = Runtime(
        engine=engine,
        engine_store=store,
        database=Database(str(directory / "sessions.sqlite"), keep_ended=settings.keep_ended),
        settings=settings,
        plan=planner(by_mount("/opt/sandboxd.pyz"), settings),
        telemetry=Telemetry(Events(clock), Metrics()),
        build_directory=directory / "builds",
        now=clock,
    )
    await runtime.open()
    transport = httpx.ASGITransport(app=application(runtime, KEY))
    async with httpx.AsyncClient(transport=transport, base_url="http://runtime", headers={"X-API-Key": KEY}) as client:
        try:
            yield Server(runtime=runtime, engine=engine, client=client, clock=clock)
        finally:
            await runtime.abandon()


def asynchronous(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that awaits; one that would wait for ever fails."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), 30))

    return run
