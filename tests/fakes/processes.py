"""An engine whose sandboxes are processes of this machine: the real sandboxd, and no container around it."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from fakes.engine import IMAGE
from lanes.ports import held_ports
from skyrl_train.sandbox.inject import ImageFacts, Python
from skyrl_train.sandbox.runtime.engine import (
    BuildFailedError,
    Container,
    ContainerSpec,
    EngineUnsureError,
    ImageAbsentError,
    Phase,
)
from skyrl_train.sandbox.runtime.podman.process_end import until_ended

FACTS = ImageFacts(pythons=(Python(path=sys.executable, version=(3, 11, 0)),))


class ProcessEngine:
    def __init__(self) -> None:
        self.standing: dict[str, tuple[Container, subprocess.Popen[bytes]]] = {}
        self.held: dict[str, contextlib.ExitStack] = {}

    async def start(self, spec: ContainerSpec) -> Container:
        with contextlib.ExitStack() as held:
            (port,) = held.enter_context(held_ports(1))
            self.held[spec.name] = held.pop_all()
        argv = [sys.executable, "-I", "-S", "-B", spec.mounts[0].source, "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(argv, env={**os.environ, **spec.environment}, start_new_session=True)
        container = Container(name=spec.name, phase=Phase.RUNNING, pid=process.pid, port=port)
        self.standing[spec.name] = container, process
        return container

    async def remove(self, name: str) -> None:
        found = self.standing.pop(name, None)
        if found is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(found[1].pid, signal.SIGKILL)
            await asyncio.to_thread(found[1].wait)
            self.held.pop(name).close()

    async def pause(self, container: Container) -> None:
        self._tell(container, signal.SIGSTOP, Phase.PAUSED)

    async def resume(self, container: Container) -> None:
        self._tell(container, signal.SIGCONT, Phase.RUNNING)

    def _tell(self, container: Container, number: int, phase: Phase) -> None:
        if container.name not in self.standing:
            raise EngineUnsureError(f"no sandbox {container.name}")
        os.killpg(container.pid, number)
        self.standing[container.name] = replace(container, phase=phase), self.standing[container.name][1]

    async def find(self, name: str) -> Container | None:
        found = self.standing.get(name)
        return None if found is None else found[0]

    async def all(self) -> tuple[Container, ...]:
        return tuple(container for container, _ in self.standing.values())

    async def logs(self, _name: str) -> str:
        return ""

    async def image(self, reference: str) -> ImageFacts | None:
        return FACTS if reference == IMAGE else None

    async def fetch(self, reference: str, *, again: bool = False) -> str:  # noqa: ARG002 -- the interface
        raise ImageAbsentError(f"{reference}: there is no registry here")

    async def build(self, reference: str) -> None:
        raise BuildFailedError(f"{reference}: nothing is built here")

    async def build_from(self, directory: str, recipe: str, names: Sequence[str]) -> None:  # noqa: ARG002 -- as above
        raise BuildFailedError(f"{names[0]}: nothing is built here")

    async def connect(self, container: Container) -> socket.socket:
        made = socket.socket()
        made.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", container.port))
        except BaseException:
            made.close()
            raise
        return made

    async def ended(self, container: Container) -> None:
        await until_ended(container.pid)

    async def close(self, limit_s: float) -> None:
        end = time.monotonic() + limit_s
        while self.standing and time.monotonic() < end:
            await self.remove(next(iter(self.standing)))
