"""Takes away what nobody comes back for, and what nobody knows of.

A session's client may have been killed at any moment. As long as it lives it asks for its session or talks through its
door; whoever did neither for the idle limit is taken for dead.
"""

import asyncio

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.runtime.reconcile import sweep_one
from skyrl_train.sandbox.runtime.record import COMING_UP
from skyrl_train.sandbox.runtime.remover import remove
from skyrl_train.sandbox.runtime.store import Parts


async def reap_for_ever(parts: Parts) -> None:
    while True:
        await asyncio.sleep(parts.settings.reap_every_s)
        await reap(parts)


async def reap(parts: Parts) -> None:
    parts.book.write_again()
    parts.book.forget_old()
    for record in parts.book.live():
        door = parts.doors.get(record.runtime_id)
        if door is None or door.busy or record.state in COMING_UP:
            continue
        idle = parts.now() - door.seen
        if idle > parts.settings.idle_limit_s:
            parts.metrics.count("reaped_total")
            await end(parts, record.runtime_id, f"left by its client: nobody came for {idle:.0f} s")
    await sweep(parts)


async def end(parts: Parts, runtime_id: str, cause: str) -> None:
    """Stops a session without waiting for its container to be gone."""
    record = parts.current(runtime_id)
    parts.events.add("ended", runtime_id=runtime_id, session_id=record.session_id, cause=cause)
    await parts.put(record.now(State.STOPPED, event=cause, cause=cause, removal=True))
    parts.spawn(remove(parts, runtime_id), f"remove {runtime_id}")


async def sweep(parts: Parts) -> None:
    """A call that got no answer may still be done, long after its session was given up."""
    try:
        for container in await parts.engine.all():
            record = parts.book.get(container.name)
            if record is None or not (record.live or record.removal):
                await sweep_one(parts, container.name)
    except TrainError as error:
        parts.events.add("not swept", cause=str(error))
