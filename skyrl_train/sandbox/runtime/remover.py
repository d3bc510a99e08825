"""Ends sessions and removes their containers. It does not give up: a slot is free when its container is gone."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.runtime.admission import Admission
from skyrl_train.sandbox.runtime.engine import Container
from skyrl_train.sandbox.runtime.events import Events
from skyrl_train.sandbox.runtime.sandboxes import Sandboxes
from skyrl_train.sandbox.runtime.store import SessionStore
from skyrl_train.sandbox.runtime.tasks import Tasks

FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 10.0


@dataclass(frozen=True, kw_only=True)
class Remover:
    store: SessionStore
    sandboxes: Sandboxes
    admission: Admission
    tasks: Tasks
    events: Events

    def begin(self, runtime_id: str) -> None:
        self.tasks.start(self.remove(runtime_id), f"remove {runtime_id}")

    async def begin_and_wait(self, runtime_id: str, *, limit_s: float) -> None:
        await self.tasks.start_and_wait(self.remove(runtime_id), f"remove {runtime_id}", limit_s=limit_s)

    async def end(self, runtime_id: str, cause: str) -> None:
        """Stops a session without waiting for its container to be gone."""
        record = self.store.current(runtime_id)
        self.events.add("ended", runtime_id=runtime_id, session_id=record.session_id, cause=cause)
        await self.store.put(record.now(State.STOPPED, event=cause, cause=cause, removal=True))
        self.begin(runtime_id)

    async def remove(self, runtime_id: str) -> None:
        """Returns when the container is gone. The record has `removal` set before, which outlives a restart."""
        wait = FIRST_WAIT_S
        await self.sandboxes.close_port(runtime_id)
        while self.store.current(runtime_id).removal:
            async with self.sandboxes.locks[runtime_id]:
                done = await self._try(runtime_id)
            if not done:
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT_S)

    async def _try(self, runtime_id: str) -> bool:
        record = self.store.current(runtime_id)
        if not record.removal:
            return True
        try:
            await self.sandboxes.engine.remove(runtime_id)
        except TrainError as error:
            self.events.add("not removed yet", runtime_id=runtime_id, cause=str(error))
            return False
        self.sandboxes.forget(runtime_id)
        await self.store.put(record.now(record.state, removal=False))
        self.admission.release(runtime_id)
        self.events.add("removed", runtime_id=runtime_id, session_id=record.session_id)
        return True

    async def remove_unknown(self, containers: Iterable[Container]) -> None:
        """Removes those that no session has: the answer to the call that made them was lost."""
        for name in sorted(container.name for container in containers):
            record = self.store.records.get(name)
            if record is None or not (record.live or record.removal):
                self.events.add("nobody's container", runtime_id=name)
                await self.sandboxes.engine.remove(name)
