"""Sandboxes started ahead for the next batch: a start that asks for the same kind takes one that is ready.

They use free slots, and give them up as soon as a session waits for one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.runtime.admission import Admission
from skyrl_train.sandbox.runtime.metrics import Metrics
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.remover import Remover
from skyrl_train.sandbox.runtime.sandboxes import Sandboxes
from skyrl_train.sandbox.runtime.store import SessionStore
from skyrl_train.sandbox.start_request import StartRequest


def same_sandbox(one: StartRequest, other: StartRequest) -> bool:
    """Whether their containers would be the same: only the session's name may differ."""
    return replace(one, session_id=other.session_id) == other


@dataclass(frozen=True, kw_only=True)
class Prewarm:
    store: SessionStore
    sandboxes: Sandboxes
    admission: Admission
    remover: Remover
    metrics: Metrics
    now: Callable[[], float]

    def waiting(self) -> tuple[Record, ...]:
        """Those that no session has yet, the oldest first."""
        return tuple(record for record in self.store.records.live() if record.session_id is None)

    async def take(self, request: StartRequest) -> Record | None:
        fitting = (record for record in self.waiting() if same_sandbox(record.request, request))
        found = next((record for record in fitting if record.state is State.READY), None)
        if found is None:
            return None
        self.metrics.prewarmed_used.inc()
        self.sandboxes.touch(found.runtime_id)
        return await self.store.put(replace(found, session_id=request.session_id, request=request, created=self.now()))

    async def make_room(self) -> None:
        """A session waits for a slot that a prewarmed sandbox holds."""
        going = sum(
            record.request.resource_factor
            for record in self.store.records.all()
            if record.session_id is None and not record.live and record.removal
        )
        for record in self.waiting():
            if going >= self.admission.slots.wanted():
                return
            going += record.request.resource_factor
            await self.remover.end(record.runtime_id, "its slot is wanted by a session")
