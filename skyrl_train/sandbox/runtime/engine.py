"""What the server asks of a container engine. Podman's implementation is in `podman/`; tests have one of their own."""

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.wire import AGENT_PORT
from skyrl_train.sandbox.inject import ImageFacts, Mount


class EngineError(TrainError):
    """The engine answered, and the answer is no: asking again gives the same."""


class ImageAbsentError(EngineError):
    """Neither here nor to be had."""


class BuildFailedError(EngineError):
    """An image could not be made; `log` is the end of what the build printed."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class BuildLateError(BuildFailedError):
    """It was ended at its limit."""


class EngineUnsureError(TrainError):
    """No answer, or one cut short: what was asked may have been done or not. Look, take away, ask again."""


class Phase(StrEnum):
    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    EXITED = "exited"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSpec:
    """A container to be. `command` is the whole command line: the image's own entry point is never run (IMG004)."""

    name: str
    image: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    working_dir: str
    mounts: tuple[Mount, ...]
    """Read-only; there is no other kind."""
    labels: Mapping[str, str]
    cpus: float
    memory_mib: int
    pids: int
    disk_mib: int | None = None
    network: bool = False
    user: str = "0"
    port: int = AGENT_PORT
    """Where the agent server listens inside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container as the engine sees it."""

    name: str
    phase: Phase
    pid: int = 0
    """Of its first process, as the host counts; 0 where none runs."""
    exit_code: int = 0
    out_of_memory: bool = False
    port: int = AGENT_PORT


class Engine(Protocol):
    """Every call ends within the engine's own time limit, with EngineError or EngineUnsureError where it cannot be done."""

    async def start(self, spec: ContainerSpec) -> Container:
        """Creates and starts. After an error a container of that name may stand half made."""

    async def remove(self, name: str) -> None:
        """Nothing of that name is left afterwards; that there was nothing is fine."""

    async def pause(self, container: Container) -> None: ...

    async def resume(self, container: Container) -> None: ...

    async def find(self, name: str) -> Container | None: ...

    async def all(self) -> tuple[Container, ...]:
        """Those that this server's label marks, in any phase."""

    async def logs(self, name: str) -> str:
        """The last lines that a container printed; empty where there are none to be had."""

    async def image(self, reference: str) -> ImageFacts | None:
        """What an image of the store says of itself, its Pythons among it; None where it is not there."""

    async def fetch(self, reference: str, *, again: bool = False) -> str:
        """Into the store, once for all who ask meanwhile; its whole name. `again`: though it is there. Raises
        ImageAbsentError."""

    async def build(self, reference: str) -> None:
        """The derived image of one that is in the store. Raises BuildFailedError."""

    async def build_from(self, directory: str, recipe: str, names: Sequence[str]) -> None:
        """An image out of a directory, by a file in it, under all these names. Raises BuildFailedError."""

    async def connect(self, container: Container) -> socket.socket:
        """A connection to the agent server inside. OSError where nobody listens."""

    async def ended(self, container: Container) -> None:
        """Returns when the container's first process has ended."""

    async def close(self, limit_s: float) -> None:
        """Ends the engine and whatever of its containers is left."""
