"""The image of a session: in the store, fetched, or built with the agent server in it."""

from collections.abc import Callable

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.inject import ImageFacts
from skyrl_train.sandbox.runtime.engine import BuildFailedError, Engine, ImageAbsentError
from skyrl_train.sandbox.runtime.record import Record
from skyrl_train.sandbox.runtime.store import SessionStore

Derive = Callable[[ImageFacts], str]
"""The name of an image's derived one, where the agent server is built in. Raises TrainError where it cannot be."""


class SessionImages:
    """`derive` None: the agent server is mounted, and images are used as they are."""

    def __init__(self, engine: Engine, store: SessionStore, derive: Derive | None = None) -> None:
        self.derive = derive
        self._engine = engine
        self._store = store

    async def prepare(self, record: Record) -> tuple[str, ImageFacts]:
        """The name of the image to start, which is in the store then."""
        name, facts = await self._fetched(record)
        return (name, facts) if self.derive is None else await self._derived(record, name, self.derive(facts))

    async def _fetched(self, record: Record) -> tuple[str, ImageFacts]:
        """Podman's own pull at the start of a container would hold up everything behind it."""
        image, policy = record.request.image, record.request.image_pull_policy
        found = await self._engine.image(image)
        if found is not None and policy != "Always":
            return image, found
        if policy == "Never":
            raise ImageAbsentError(f"image {image} is not in the store, and image_pull_policy is Never")
        await self._enter(record.runtime_id, State.PULLING, f"fetching {image}")
        name = await self._engine.fetch(image, again=policy == "Always")
        fetched = await self._engine.image(name)
        if fetched is None:
            raise ImageAbsentError(f"image {name} was fetched, and is not in the store")
        return name, fetched

    async def _derived(self, record: Record, base: str, name: str) -> tuple[str, ImageFacts]:
        """The image with the agent server built in: the one that is there, or a new one."""
        found = await self._engine.image(name)
        if found is not None:
            return name, found
        await self._enter(record.runtime_id, State.BUILDING, f"building the agent server into {base}")
        await self._engine.build(base)
        built = await self._engine.image(name)
        if built is None:
            raise BuildFailedError(f"{name} was built, and is not in the store")
        return name, built

    async def _enter(self, runtime_id: str, state: State, event: str) -> None:
        record = self._store.current(runtime_id)
        if record.live:
            await self._store.put(record.now(state, event=event))
