"""Takes over what an earlier server left: its records, and the containers that are really there.

The records say at most one step too much, so the containers decide: what runs and has a session is taken over, what is
half made is made again, and what has no session is removed.
"""

from dataclasses import dataclass

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.runtime.admission import Admission
from skyrl_train.sandbox.runtime.engine import Container, Phase
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
        """Raises what the engine raises: nothing may be started before the containers are known."""
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
            await self._lose(record, f"its container was in {record.store}, which was set aside")
            return
        try:
            await self.sandboxes.open_port(record, listen(self.host, record.port))
        except OSError as error:
            await self._lose(record, f"its port {record.port} is taken since: {error.strerror}")
            return
        if record.state in COMING_UP:
            await self._start_again(record)
            return
        self.admission.take(record.runtime_id, record.request.resource_factor)
        if container is None or container.phase not in _ALIVE:
            why = await why_ended(self.sandboxes.engine, record.runtime_id)
            await self._lose(record, f"{why}, while no runtime watched")
            return
        self.sandboxes.containers[record.runtime_id] = container
        state = State.PAUSED if container.phase is Phase.PAUSED else State.READY
        await self.store.put(record.now(state, event="taken over by a new runtime"))
        self.events.add("taken over", runtime_id=record.runtime_id, session_id=record.session_id)
        self.watcher.begin(container)

    async def _start_again(self, record: Record) -> None:
        """Whether its agent server answered is not known; a new one is as good, for no client has used this one yet."""
        decision = self.admission.ask(record.runtime_id, record.request.resource_factor)
        if decision in (SlotDecision.FULL, SlotDecision.TOO_BIG):
            total = self.admission.slots.total
            await self._lose(record, f"the runtime came up anew with {total} worker slots, and none for it")
            return
        again = record.now(State.QUEUED, event="again: the runtime came up anew", restarts=record.restarts + 1)
        await self.store.put(again)
        self.starter.begin(record)

    async def _lose(self, record: Record, cause: str) -> None:
        await self.store.fail(record.runtime_id, cause)
        self.remover.begin(record.runtime_id)
