"""Which sessions may start: the worker slots, the queue for them, and whether the server still takes sessions."""

import asyncio

from skyrl_train.sandbox.runtime.refusals import draining, full, too_big
from skyrl_train.sandbox.runtime.slots import SlotDecision, Slots


class Admission:
    """A session that was granted its slots keeps them until `release`."""

    def __init__(self, slots: Slots, *, retry_after_s: int) -> None:
        self.slots = slots
        self.draining = False
        self._retry_after_s = retry_after_s
        self._granted: dict[str, asyncio.Event] = {}

    def refuse_if_draining(self) -> None:
        if self.draining:
            raise draining()

    def admit(self, runtime_id: str, units: int, *, queue: bool) -> SlotDecision:  # FIX(RUN005)
        """GRANTED or QUEUED; `queue` False: granted at once or refused. Raises RefusedError."""
        if units > self.slots.total:
            raise too_big(units, self.slots.total)
        if self.slots.free < units and not queue:
            raise full(self.slots, self._retry_after_s)
        decision = self.ask(runtime_id, units)
        if decision is SlotDecision.FULL:
            raise full(self.slots, self._retry_after_s)
        return decision

    def ask(self, runtime_id: str, units: int) -> SlotDecision:
        decision = self.slots.ask(runtime_id, units)
        if decision in (SlotDecision.GRANTED, SlotDecision.QUEUED):
            self._granted[runtime_id] = asyncio.Event()
        if decision is SlotDecision.GRANTED:
            self._granted[runtime_id].set()
        return decision

    def take(self, runtime_id: str, units: int) -> None:
        """For a sandbox that runs already."""
        self.slots.take(runtime_id, units)

    async def wait_granted(self, runtime_id: str) -> None:
        """Returns when the session has its slots, or has been released without them."""
        granted = self._granted.get(runtime_id)
        if granted is not None:
            await granted.wait()

    def release(self, runtime_id: str) -> None:
        for name in self.slots.release(runtime_id):
            self._granted[name].set()
        granted = self._granted.pop(runtime_id, None)
        if granted is not None:
            granted.set()
