"""The way into a session: its door, and where a connection through it ends."""

import socket

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.runtime.engine import EngineError, EngineUnsureError
from skyrl_train.sandbox.runtime.ports import Door, NotReachableError
from skyrl_train.sandbox.runtime.record import COMING_UP, Record
from skyrl_train.sandbox.runtime.store import Parts


async def open_door(parts: Parts, record: Record, listener: socket.socket) -> Door:
    async def dial() -> socket.socket:
        return await _inside(parts, record.runtime_id)

    door = Door(dial, parts.now)
    await door.open(listener)
    parts.doors[record.runtime_id] = door
    return door


async def _inside(parts: Parts, runtime_id: str) -> socket.socket:
    state = parts.current(runtime_id).state
    container = parts.containers.get(runtime_id)
    if state is State.PAUSED:
        raise NotReachableError.paused()
    if state in COMING_UP or container is None:
        raise NotReachableError.starting()
    try:
        return await parts.engine.connect(container)
    except (EngineError, EngineUnsureError) as error:
        parts.events.add("not reached", runtime_id=runtime_id, cause=str(error))
        raise NotReachableError.lost() from error
