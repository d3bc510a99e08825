"""Takes over what an earlier server left: its records, and the containers that are really there.

The records are at most one step ahead, so the containers decide: a running container with a session is taken over,
an incomplete one is started again, and one without a session is removed.
"""

from dataclasses import dataclass

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.engine import Container, Phase
from skyrl_train.sandbox.runtime.admission import Admission
from skyrl_train.sandbox.runtime.events import Events
from skyrl_train.sandbox.runtime.ports import listen
from skyrl_train.sandbox.runtime.record import COMING_UP, Record
from skyrl_train.sandbox.runtime.remover import Remover
from skyrl_train.sandbox.runtime.sandboxes import Sandboxes
from skyrl_train.sandbox.runtime.slots import SlotDecision
from skyrl_train.sandbox.runtime.starter import Starter
from skyrl_train.sandbox.runtime.store import SessionStore
from skyrl_train.sandbox.runtime.watcher import Watcher, why_ended

_ALIVE = (Phase.RUNNING, Phase.PAUSED)


@dataclass(frozen=True, kw_only=True)
class Reconciler:
    host: str
    store: SessionStore
    sandboxes: Sandboxes
    admission: Admission
    starter: Starter
    watcher: Watcher
    remover: Remover
    events: Events

    async def run(self) -> None:
        """Raises the engine's errors: nothing may start before the containers are known."""
        containers = {container.name: container for container in await self.sandboxes.engine.all()}
        running_first = sorted(self.store.records.all(), key=lambda record: record.state in COMING_UP)
        for record in running_first:
            if record.live:
                await self._take_over(record, containers.get(record.runtime_id))
            elif record.removal:
                self.admission.take(record.runtime_id, record.request.resource_factor)
                self.remover.begin(record.runtime_id)
        await self.remover.remove_unknown(containers.values())

    async def _take_over(self, record: Record, container: Container | None) -> None:
        if record.store != self.sandboxes.engine_store:
            await self._lose(record, f"its container was in the store {record.store}, which was set aside")
            return
        try:
            await self.sandboxes.open_port(record, listen(self.host, record.port))
        except OSError as error:
            await self._lose(record, f"its port {record.port} is no longer free: {error.strerror}")
            return
        if record.state in COMING_UP:
            await self._start_again(record)
            return
        self.admission.take(record.runtime_id, record.request.resource_factor)
        if container is None or container.phase not in _ALIVE:
            why = await why_ended(self.sandboxes.engine, record.runtime_id)
            await self._lose(record, f"{why}, while no runtime was running")
            return
        self.sandboxes.containers[record.runtime_id] = container
        state = State.PAUSED if container.phase is Phase.PAUSED else State.READY
        await self.store.put(record.now(state, event="taken over by a new runtime"))
        self.events.add("taken over", runtime_id=record.runtime_id, session_id=record.session_id)
        self.watcher.begin(container)

    async def _start_again(self, record: Record) -> None:
        """A new sandbox is as good as the old one: no client has used that one yet."""
        decision = self.admission.ask(record.runtime_id, record.request.resource_factor)
        if decision in (SlotDecision.FULL, SlotDecision.TOO_BIG):
            total = self.admission.slots.total
            await self._lose(record, f"the runtime restarted with {total} worker slots, and none is free for it")
            return
        again = record.now(State.QUEUED, event="again: the runtime restarted", restarts=record.restarts + 1)
        await self.store.put(again)
        self.starter.begin(record)

    async def _lose(self, record: Record, cause: str) -> None:
        await self.store.fail(record.runtime_id, cause)
        self.remover.begin(record.runtime_id)
