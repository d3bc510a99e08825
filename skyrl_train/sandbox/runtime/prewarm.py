"""Sandboxes made ahead, for the next batch: a start that asks for the like takes one that is ready.

They use slots that nobody else wants, and give them up as soon as somebody does.
"""

from dataclasses import replace

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.runtime.reaper import end
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.store import Parts
from skyrl_train.sandbox.start_request import StartRequest


def same_sandbox(one: StartRequest, other: StartRequest) -> bool:
    """Whether their containers would be the same: only the session's name may differ."""
    return replace(one, session_id=other.session_id) == other


class Prewarm:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def waiting(self) -> tuple[Record, ...]:
        """Those that no session has yet, the oldest first."""
        return tuple(record for record in self._parts.book.live() if record.session_id is None)

    async def take(self, request: StartRequest) -> Record | None:
        parts = self._parts
        fitting = (record for record in self.waiting() if same_sandbox(record.request, request))
        found = next((record for record in fitting if record.state is State.READY), None)
        if found is None:
            return None
        taken = replace(found, session_id=request.session_id, request=request, created=parts.now())
        parts.metrics.count("prewarmed_used_total")
        door = parts.doors.get(found.runtime_id)
        if door is not None:
            door.seen = parts.now()
        return await parts.put(taken)

    async def make_room(self) -> None:
        """Somebody waits for a slot that one made ahead holds."""
        going = sum(
            record.request.resource_factor
            for record in self._parts.book.all()
            if record.session_id is None and not record.live and record.removal
        )
        for record in self.waiting():
            if going >= self._parts.slots.wanted():
                return
            going += record.request.resource_factor
            await end(self._parts, record.runtime_id, "its slot is wanted by a session")
