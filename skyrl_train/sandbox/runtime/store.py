"""The sessions of one server: their records, and a way to wait for changes."""

import asyncio
from collections.abc import Callable

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.runtime.database import Database
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.telemetry import Telemetry


class SessionStore:
    """`records` are in memory and on disk."""

    def __init__(self, records: Database, telemetry: Telemetry) -> None:
        self.records = records
        self._telemetry = telemetry
        self._changed = asyncio.Condition()

    def current(self, runtime_id: str) -> Record:
        """For a session that must exist."""
        record = self.records.get(runtime_id)
        assert record is not None, runtime_id
        return record

    async def put(self, record: Record) -> Record:
        """Records a step that was done, and wakes waiting tasks. An ended session stays ended: it may have ended
        during the step."""
        known = self.records.get(record.runtime_id)
        if known is not None and record.live and not known.live:
            return known
        self.records.note(record)
        async with self._changed:
            self._changed.notify_all()
        return record

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        async with self._changed:
            await self._changed.wait_for(condition)

    async def fail(self, runtime_id: str, cause: str, logs: str = "") -> Record:
        """Ends a live session as failed. Its container is still to be removed."""
        record = self.current(runtime_id)
        if not record.live:
            return record
        self._telemetry.metrics.failed.inc()
        self._telemetry.events.add("failed", runtime_id=runtime_id, session_id=record.session_id, cause=cause)
        return await self.put(record.now(State.FAILED, event=f"failed: {cause}", cause=cause, logs=logs, removal=True))
