"""Looks at sandboxes from outside, where their processes can neither hide nor stop it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.procfs import stat_of
from skyrl_train.sandbox.engine import Container, Share
from skyrl_train.sandbox.runtime.health import healthy
from skyrl_train.sandbox.runtime.remover import Remover
from skyrl_train.sandbox.runtime.sandboxes import Sandboxes
from skyrl_train.sandbox.runtime.settings import RuntimeSettings
from skyrl_train.sandbox.runtime.store import SessionStore
from skyrl_train.sandbox.runtime.telemetry import Telemetry

_AT_ONCE = 16
_LEAST_MISSES = 3
"""One late answer is no silence, however long the server itself was held up."""


@dataclass(frozen=True, kw_only=True)
class Inspector:
    settings: RuntimeSettings
    share: Share
    store: SessionStore
    sandboxes: Sandboxes
    remover: Remover
    telemetry: Telemetry
    now: Callable[[], float]
    _silent: dict[str, list[float]] = field(default_factory=dict)
    """The times at which an answer was missing, since the last answer."""
    _probes: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self.settings.reap_every_s)
            await self.inspect()

    async def inspect(self) -> None:
        ready = [container for name, container in self.sandboxes.containers.items() if self._is_ready(name)]
        for name in self._silent.keys() - {container.name for container in ready}:
            del self._silent[name]
        try:
            await self._enforce(ready)
        except TrainError as error:
            self.telemetry.events.add("shares not checked", cause=str(error))
        await asyncio.gather(*(self._probe(container) for container in ready))

    def _is_ready(self, name: str) -> bool:
        record = self.store.records.get(name)
        return record is not None and record.state is State.READY

    async def _enforce(self, ready: list[Container]) -> None:
        for name, said in (await self.sandboxes.engine.enforce(ready, self.share)).items():
            current = self.store.current(name)
            if current.live:
                self.telemetry.metrics.limits.inc()
                self.telemetry.events.add("limit", runtime_id=name, session_id=current.session_id, why=said)
                await self.store.put(current.now(current.state, event=f"limit: {said}"))

    async def _probe(self, container: Container) -> None:
        async with self._probes:
            answered = await self._answers(container)
        if answered or not self._is_ready(container.name):
            self._silent.pop(container.name, None)
            return
        misses = self._silent.setdefault(container.name, [])
        misses.append(self.now())
        silent_s = misses[-1] - misses[0]
        if len(misses) >= _LEAST_MISSES and silent_s >= self.settings.silent_limit_s:
            cause = f"the agent server has not answered for {silent_s:.0f} s{_why(container)}: the sandbox was ended"
            await self.store.fail(container.name, cause, await self.sandboxes.logs(container.name))
            self.remover.begin(container.name)

    async def _answers(self, container: Container) -> bool:
        """An engine that cannot connect says nothing about the sandbox."""
        try:
            return await healthy(lambda: self.sandboxes.engine.connect(container))
        except TrainError:
            return True


def _why(container: Container) -> str:
    found = stat_of(container.pid) if container.pid else None
    return ", and its first process is stopped" if found is not None and found.state in "Tt" else ""
