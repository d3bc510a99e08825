"""Takes away the containers of sessions that have ended, and does not give up: a slot is free when its container is gone."""

import asyncio

from skyrl_train.contracts.errors import TrainError
from skyrl_train.sandbox.runtime.store import Parts

FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 10.0


async def remove(parts: Parts, runtime_id: str) -> None:
    """Ends when the container is seen to be gone. The entry with `removal` was made before, and outlives a restart."""
    wait = FIRST_WAIT_S
    await close_door(parts, runtime_id)
    while parts.current(runtime_id).removal:
        async with parts.locks[runtime_id]:
            done = await _once(parts, runtime_id)
        if not done:
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT_S)


async def _once(parts: Parts, runtime_id: str) -> bool:
    record = parts.current(runtime_id)
    if not record.removal:
        return True
    try:
        await parts.engine.remove(runtime_id)
    except TrainError as error:
        parts.events.add("not removed yet", runtime_id=runtime_id, cause=str(error))
        return False
    parts.containers.pop(runtime_id, None)
    await parts.put(record.now(record.state, removal=False))
    parts.release(runtime_id)
    parts.granted.pop(runtime_id, None)
    parts.looked.pop(runtime_id, None)
    parts.events.add("removed", runtime_id=runtime_id, session_id=record.session_id)
    return True


async def close_door(parts: Parts, runtime_id: str) -> None:
    door = parts.doors.pop(runtime_id, None)
    if door is not None:
        await door.close()
