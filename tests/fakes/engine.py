"""A container engine in memory, with the interface of the real one, and its ways to fail."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from skyrl_train.sandbox.engine import (
    Container,
    ContainerSpec,
    EngineError,
    EngineUnsureError,
    ImageAbsentError,
    Phase,
    Share,
)
from skyrl_train.sandbox.inject import ImageFacts, Python

IMAGE = "localhost/box:latest"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


@dataclass
class Standing:
    """A container, what it was made from, and its end."""

    container: Container
    spec: ContainerSpec
    over: asyncio.Event = field(default_factory=asyncio.Event)


class FakeEngine:
    """`standing` outlives the server, as containers do. Each script answers one call and is gone: an error is raised."""

    def __init__(self) -> None:
        self.standing: dict[str, Standing] = {}
        self.images = {IMAGE: ImageFacts(pythons=(Python(path="/usr/bin/python3", version=(3, 11, 2)),))}
        self.registry: set[str] = set()
        self.calls: list[str] = []
        self.fail: dict[str, list[Exception]] = {}
        self.after: dict[str, list[Exception]] = {}
        """Raised when it was done: the answer was lost."""
        self.hold: dict[str, asyncio.Event] = {}
        self.healthy = True
        self.hook: Callable[[str], None] = lambda _call: None
        self.closed = False
        self.exceeded: dict[str, str] = {}
        self.recipes: list[str] = []
        self._servers: list[asyncio.Task[None]] = []

    async def start(self, spec: ContainerSpec) -> Container:
        await self._called("start", spec.name)
        if spec.name in self.standing:
            raise EngineError(f'the container name "{spec.name}" is already in use')
        if spec.image not in self.images:
            raise ImageAbsentError(f"{spec.image}: image not known")
        container = Container(name=spec.name, phase=Phase.RUNNING, pid=4000 + len(self.calls), port=spec.port)
        self.standing[spec.name] = Standing(container, spec)
        self._done("start")
        return container

    async def remove(self, name: str) -> None:
        await self._called("remove", name)
        found = self.standing.pop(name, None)
        if found is not None:
            found.over.set()
        self._done("remove")

    async def pause(self, container: Container) -> None:
        await self._called("pause", container.name)
        self._phase(container.name, Phase.PAUSED)

    async def resume(self, container: Container) -> None:
        await self._called("resume", container.name)
        self._phase(container.name, Phase.RUNNING)

    async def find(self, name: str) -> Container | None:
        await self._called("find", name)
        found = self.standing.get(name)
        return None if found is None else found.container

    async def all(self) -> tuple[Container, ...]:
        await self._called("all", "")
        return tuple(found.container for found in self.standing.values())

    async def logs(self, name: str) -> str:
        return f"the last words of {name}" if name in self.standing else ""

    async def image(self, reference: str) -> ImageFacts | None:
        await self._called("image", reference)
        return self.images.get(reference)

    async def fetch(self, reference: str, *, again: bool = False) -> str:
        await self._called("fetch again" if again else "fetch", reference)
        if reference not in self.registry:
            raise ImageAbsentError(f"{reference}: manifest unknown")
        self.images[reference] = self.images[IMAGE]
        return reference

    async def build(self, reference: str) -> None:
        await self._called("build", reference)
        self.images[f"{reference}-derived"] = self.images[reference]

    async def build_from(self, directory: str, recipe: str, names: Sequence[str]) -> None:
        self.recipes.append(Path(directory, recipe).read_text())
        await self._called("build_from", names[0])
        self.images |= dict.fromkeys(names, self.images[IMAGE])

    async def connect(self, container: Container) -> socket.socket:
        found = self.standing.get(container.name)
        if found is None or found.container.phase is not Phase.RUNNING or not self.healthy:
            raise ConnectionRefusedError(111, "Connection refused")
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setblocking(False)
        self._servers.append(asyncio.get_running_loop().create_task(_agent(theirs)))
        return ours

    async def enforce(self, containers: Sequence[Container], _share: Share) -> dict[str, str]:
        await self._called("enforce", "")
        return {each.name: self.exceeded[each.name] for each in containers if each.name in self.exceeded}

    async def ended(self, container: Container) -> None:
        found = self.standing.get(container.name)
        if found is not None:
            await found.over.wait()

    async def close(self, _limit_s: float) -> None:
        self.closed = True
        self.standing.clear()

    def kill(self, name: str, exit_code: int = 137) -> None:
        """What kill -9 does to a container's first process."""
        found = self.standing[name]
        found.container = replace(found.container, phase=Phase.EXITED, pid=0, exit_code=exit_code)
        found.over.set()

    async def _called(self, call: str, name: str) -> None:
        self.calls.append(f"{call} {name}".strip())
        self.hook(call)
        held = self.hold.get(call)
        if held is not None:
            await held.wait()
        if self.fail.get(call):
            raise self.fail[call].pop(0)

    def _done(self, call: str) -> None:
        if self.after.get(call):
            raise self.after[call].pop(0)

    def _phase(self, name: str, phase: Phase) -> None:
        if name not in self.standing:
            raise EngineUnsureError(f"no container {name}")
        self.standing[name].container = replace(self.standing[name].container, phase=phase)


async def _agent(theirs: socket.socket) -> None:
    """Answers one request with 200, then echoes nothing more."""
    reader, writer = await asyncio.open_connection(sock=theirs)
    try:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()
