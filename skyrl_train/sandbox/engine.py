"""The interface of a container engine. `runtime/podman/` implements it with Podman; tests have their own."""

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.sandbox.wire import AGENT_PORT
from skyrl_train.sandbox.inject import ImageFacts, Mount

LABEL = "skyrl.runtime"
"""Marks the containers of this kind of server; its value is the server's store."""
SESSION_LABEL, PORT_LABEL = "skyrl.session", "skyrl.port"


class EngineError(TrainError):
    """The engine refused; repeating the call will not help."""


class ImageAbsentError(EngineError):
    """The image is not in the store and cannot be fetched."""


class BuildFailedError(EngineError):
    """An image build failed; `log` is the end of its output."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class BuildLateError(BuildFailedError):
    """The build hit its time limit."""


class EngineUnsureError(TrainError):
    """No complete answer: the call may have taken effect or not. Check, remove, and try again."""


class Phase(StrEnum):
    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    EXITED = "exited"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSpec:
    """The settings of a container. `command` is the complete command line: the image's entry point is never run (IMG004)."""

    name: str
    image: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    working_dir: str
    mounts: tuple[Mount, ...]
    """All mounts are read-only."""
    labels: Mapping[str, str]
    cpus: float
    memory_mib: int
    pids: int
    disk_mib: int | None = None
    network: bool = False
    user: str = "0"
    port: int = AGENT_PORT
    """The agent server's port inside."""
    terminals: int = 64
    """Most pseudo-terminals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container as the engine reports it."""

    name: str
    phase: Phase
    pid: int = 0
    """Of its first process, on the host; 0 if it does not run."""
    exit_code: int = 0
    out_of_memory: bool = False
    port: int = AGENT_PORT


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How much one sandbox may take of what the kernel counts for all sandboxes of a user together. 0: no limit."""

    terminals: int = 64
    inotify: int = 0
    """Instances of inotify."""
    pipe_pages: int = 0
    """Pages of memory that its pipes may fill."""
    descriptors: int = 65536
    """Open descriptors of all its processes: they must be counted to find the others."""


class Engine(Protocol):
    """Every call ends within the engine's own time limit and raises EngineError or EngineUnsureError if it fails."""

    async def start(self, spec: ContainerSpec) -> Container:
        """Creates and starts a container. After an error an incomplete container of that name may exist."""

    async def remove(self, name: str) -> None:
        """Removes the container; does nothing if there is none."""

    async def pause(self, container: Container) -> None: ...

    async def resume(self, container: Container) -> None: ...

    async def find(self, name: str) -> Container | None: ...

    async def all(self) -> tuple[Container, ...]:
        """All containers with this server's label, in any phase."""

    async def logs(self, name: str) -> str:
        """The last lines that a container printed; empty if there are none."""

    async def image(self, reference: str) -> ImageFacts | None:
        """The facts of an image in the store, including its Pythons; None if it is missing."""

    async def fetch(self, reference: str, *, again: bool = False) -> str:
        """Fetches an image into the store, once for all callers; returns its full name. `again`: even if it is there.
        Raises ImageAbsentError."""

    async def build(self, reference: str) -> None:
        """Builds the derived image of an image in the store. Raises BuildFailedError."""

    async def build_from(self, directory: str, recipe: str, names: Sequence[str]) -> None:
        """Builds an image from a directory with the file `recipe`, under all these names. Raises BuildFailedError."""

    async def connect(self, container: Container) -> socket.socket:
        """Connects to the agent server inside. Raises OSError if it does not listen."""

    async def enforce(self, containers: Sequence[Container], share: Share) -> dict[str, str]:
        """Kills the processes that hold most of what exceeds a container's share. What was done, by container."""

    async def ended(self, container: Container) -> None:
        """Returns when the container's first process has ended."""

    async def close(self, limit_s: float) -> None:
        """Stops the engine and removes the remaining containers."""
