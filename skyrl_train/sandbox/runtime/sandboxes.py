"""The sandboxes of one server: their containers, their ports, and when a client last used them."""

import asyncio
import socket
from collections import defaultdict
from collections.abc import Callable

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.runtime.engine import Container, Engine, EngineError, EngineUnsureError
from skyrl_train.sandbox.runtime.ports import NotReachableError, Port
from skyrl_train.sandbox.runtime.record import COMING_UP, Record
from skyrl_train.sandbox.runtime.store import SessionStore
from skyrl_train.sandbox.runtime.telemetry import Telemetry


class Sandboxes:
    """`engine_store` is the engine's store: a record of another one has no container here."""

    def __init__(
        self, engine: Engine, *, engine_store: str, store: SessionStore, telemetry: Telemetry, now: Callable[[], float]
    ) -> None:
        self.engine = engine
        self.engine_store = engine_store
        self.containers: dict[str, Container] = {}
        self.locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.last_log_read: dict[str, float] = {}
        self._ports: dict[str, Port] = {}
        self._store = store
        self._telemetry = telemetry
        self._now = now

    async def open_port(self, record: Record, listener: socket.socket) -> None:
        async def dial() -> socket.socket:
            return await self._connect(record.runtime_id)

        port = Port(dial, self._now)
        await port.open(listener)
        self._ports[record.runtime_id] = port

    async def _connect(self, runtime_id: str) -> socket.socket:
        state = self._store.current(runtime_id).state
        container = self.containers.get(runtime_id)
        if state is State.PAUSED:
            raise NotReachableError.paused()
        if state in COMING_UP or container is None:
            raise NotReachableError.starting()
        try:
            return await self.engine.connect(container)
        except (EngineError, EngineUnsureError) as error:
            self._telemetry.events.add("not reached", runtime_id=runtime_id, cause=str(error))
            raise NotReachableError.lost() from error

    async def close_port(self, runtime_id: str) -> None:
        port = self._ports.pop(runtime_id, None)
        if port is not None:
            await port.close()

    async def close_ports(self) -> None:
        for runtime_id in tuple(self._ports):
            await self.close_port(runtime_id)

    def touch(self, runtime_id: str) -> None:
        """A client asked for the session: it is not idle."""
        port = self._ports.get(runtime_id)
        if port is not None:
            port.last_used = self._now()

    def idle_s(self, runtime_id: str) -> float:
        """Seconds since a client last used the sandbox; 0 while one is connected."""
        port = self._ports.get(runtime_id)
        return 0.0 if port is None or port.busy else self._now() - port.last_used

    async def logs(self, runtime_id: str) -> str:
        """What the container printed. A failure to read it is part of the text, not an error."""
        try:
            return await self.engine.logs(runtime_id)
        except TrainError as error:
            return f"(no logs: {error})"

    def forget(self, runtime_id: str) -> None:
        self.containers.pop(runtime_id, None)
        self.last_log_read.pop(runtime_id, None)
