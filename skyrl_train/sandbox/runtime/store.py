"""What the parts of the server share, and the few steps that all of them take."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.inject import ImageFacts
from skyrl_train.sandbox.runtime.database import Book
from skyrl_train.sandbox.runtime.engine import Container, ContainerSpec, Engine
from skyrl_train.sandbox.runtime.events import Events
from skyrl_train.sandbox.runtime.limits import Limit
from skyrl_train.sandbox.runtime.metrics import Metrics
from skyrl_train.sandbox.runtime.ports import Door
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.settings import RuntimeSettings
from skyrl_train.sandbox.runtime.slots import Slots

Plan = Callable[[Record, ImageFacts], ContainerSpec]
"""How the agent server gets into an image: what container a session becomes. Raises TrainError where it cannot."""


@dataclass(kw_only=True)
class Parts:
    """One server's. `changed` wakes whoever waits for a session."""

    engine: Engine
    book: Book
    slots: Slots
    settings: RuntimeSettings
    events: Events
    metrics: Metrics
    plan: Plan
    now: Callable[[], float]
    derive: Callable[[ImageFacts], str] | None = None
    """The name of an image's derived one, where the agent server is built in. Raises TrainError where it cannot be."""
    store: str
    """The engine's store: a record of another one has no container here."""
    containers: dict[str, Container] = field(default_factory=dict)
    doors: dict[str, Door] = field(default_factory=dict)
    granted: dict[str, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))
    looked: dict[str, float] = field(default_factory=dict)
    """When a sandbox's log was last read for what it was held back from."""
    locks: dict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    draining: bool = False
    limits: tuple[Limit, ...] = ()
    """What sandboxes are held to, for who looks at the metrics."""

    def spawn(self, work: Coroutine[object, object, None], name: str) -> None:
        """A task that is kept until it ends; one that crashes says so."""
        self.tasks.add(self.task(work, name))

    def task(self, work: Coroutine[object, object, None], name: str) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(work, name=name)
        task.add_done_callback(self._over)
        return task

    def _over(self, task: "asyncio.Task[None]") -> None:
        self.tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.events.add("crashed", task=task.get_name(), error=repr(task.exception()))

    async def put(self, record: Record) -> Record:
        """A step that was taken: written down, told, and whoever waits is woken."""
        self.book.note(record)
        await self.wake()
        return record

    async def wake(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with self.changed:
            await self.changed.wait_for(condition)

    async def logs(self, runtime_id: str) -> str:
        """For the story of a failure: that there are none to be had is no failure of its own."""
        try:
            return await self.engine.logs(runtime_id)
        except TrainError as error:
            return f"(no logs: {error})"

    def current(self, runtime_id: str) -> Record:
        record = self.book.get(runtime_id)
        assert record is not None, runtime_id
        return record

    def release(self, runtime_id: str) -> None:
        for name in self.slots.release(runtime_id):
            self.granted[name].set()

    async def fail(self, runtime_id: str, cause: str, logs: str = "") -> Record:
        """The end of a session that nobody asked for. Its container is still to go."""
        record = self.current(runtime_id)
        if not record.live:
            return record
        self.metrics.count("failed_total")
        self.events.add("failed", runtime_id=runtime_id, session_id=record.session_id, cause=cause)
        return await self.put(record.now(State.FAILED, event=f"failed: {cause}", cause=cause, logs=logs, removal=True))
