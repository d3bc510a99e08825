"""What a server finds when it comes up: the book of the one before, and the containers that really stand.

The book says at most one step too much, so reality decides: what runs and is wanted is taken over, what is half made
is made anew, what nobody asked for goes.
"""

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.runtime.engine import Container, Phase
from skyrl_train.sandbox.runtime.ports import listen
from skyrl_train.sandbox.runtime.record import COMING_UP, Record
from skyrl_train.sandbox.runtime.remover import remove
from skyrl_train.sandbox.runtime.sandboxes import open_door
from skyrl_train.sandbox.runtime.slots import Answer
from skyrl_train.sandbox.runtime.starter import Starter
from skyrl_train.sandbox.runtime.store import Parts
from skyrl_train.sandbox.runtime.watcher import watch, why_ended

_ALIVE = (Phase.RUNNING, Phase.PAUSED)


async def reconcile(parts: Parts, starter: Starter) -> None:
    """Raises what the engine raises: without knowing what stands, nothing may be started."""
    standing = {container.name: container for container in await parts.engine.all()}
    for record in sorted(
        parts.book.all(), key=lambda record: record.state in COMING_UP
    ):  # who runs comes before who waits
        if record.live:
            await _live(parts, starter, record, standing.get(record.runtime_id))
        elif record.removal:
            parts.slots.take(record.runtime_id, record.request.resource_factor)
            parts.spawn(remove(parts, record.runtime_id), f"remove {record.runtime_id}")
    for name in sorted(standing):
        if parts.book.get(name) is None or not (parts.current(name).live or parts.current(name).removal):
            await sweep_one(parts, name)


async def _live(parts: Parts, starter: Starter, record: Record, container: Container | None) -> None:
    if record.store != parts.store:
        await _lost(parts, record, f"its container was in {record.store}, which was set aside")
        return
    try:
        await open_door(parts, record, listen(parts.settings.host, record.port))
    except OSError as error:
        await _lost(parts, record, f"its port {record.port} is taken since: {error.strerror}")
        return
    units = record.request.resource_factor
    if record.state in COMING_UP:
        # Its agent server may or may not have answered; a fresh one is as good, and nobody has used this one yet.
        answer = parts.slots.ask(record.runtime_id, units)
        if answer in (Answer.FULL, Answer.TOO_BIG):
            await _lost(
                parts, record, f"the runtime came up anew with {parts.slots.total} worker slots, and none for it"
            )
            return
        if answer is Answer.GRANTED:
            parts.granted[record.runtime_id].set()
        await parts.put(record.now(State.QUEUED, event="again: the runtime came up anew", restarts=record.restarts + 1))
        starter.begin(record)
        return
    parts.slots.take(record.runtime_id, units)
    if container is None or container.phase not in _ALIVE:
        why = await why_ended(parts, record.runtime_id)
        await _lost(parts, record, f"{why}, while no runtime watched")
        return
    parts.containers[record.runtime_id] = container
    state = State.PAUSED if container.phase is Phase.PAUSED else State.READY
    await parts.put(record.now(state, event="taken over by a new runtime"))
    parts.events.add("taken over", runtime_id=record.runtime_id, session_id=record.session_id)
    parts.spawn(watch(parts, container), f"watch {record.runtime_id}")


async def _lost(parts: Parts, record: Record, cause: str) -> None:
    await parts.fail(record.runtime_id, cause)
    parts.spawn(remove(parts, record.runtime_id), f"remove {record.runtime_id}")


async def sweep_one(parts: Parts, name: str) -> None:
    """A container with our label that no session has: made by a call whose answer was lost."""
    parts.events.add("nobody's container", runtime_id=name)
    await parts.engine.remove(name)
