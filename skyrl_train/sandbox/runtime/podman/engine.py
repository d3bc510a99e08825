"""The engine over Podman. See docs/adr/0014-runtime-server.md for what goes through which interface, and why."""

import asyncio
import contextlib
import socket
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from skyrl_train.procfs import stat_of
from skyrl_train.sandbox.inject import ImageFacts, facts_of
from skyrl_train.sandbox.runtime.engine import (
    Container,
    ContainerSpec,
    EngineError,
    EngineUnsureError,
    ImageAbsentError,
    Phase,
)
from skyrl_train.sandbox.runtime.plan import LABEL
from skyrl_train.sandbox.runtime.podman.api import Absent, Api
from skyrl_train.sandbox.runtime.podman.host import Host, host_of
from skyrl_train.sandbox.runtime.podman.image_contents import looked_into, remove_looks
from skyrl_train.sandbox.runtime.podman.image_supply import ImageSupply
from skyrl_train.sandbox.runtime.podman.leftovers import end_leftovers
from skyrl_train.sandbox.runtime.podman.namespace_client import Inside
from skyrl_train.sandbox.runtime.podman.previous_server import remove_half_made
from skyrl_train.sandbox.runtime.podman.process_end import until_ended
from skyrl_train.sandbox.runtime.podman.service import Service
from skyrl_train.sandbox.runtime.podman.spec import inspected, listed, log_text, payload

_LOG_LINES = 200
_LOG_CHARACTERS = 16_384


class PodmanEngine:
    """One store's."""

    def __init__(
        self, service: Service, supply: ImageSupply, *, run_dir: str, threads: int, told: Callable[..., None]
    ) -> None:
        self.service = service
        self._supply = supply
        self._api = Api(service.socket_path, threads)
        self._inside = Inside()
        self._run_dir = run_dir
        self._told = told
        self._facts: dict[str, ImageFacts] = {}
        self._looking: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.host = Host()

    async def open(self) -> None:
        await self.service.open()
        half_made = await asyncio.to_thread(remove_half_made, self._supply.podman, self._run_dir)
        if half_made:
            self._told("half made", containers_removed=half_made)
        self.host = host_of(await self._api.ask("get", "/info"), mounts=_mounts())
        await remove_looks(self._api)
        if not self.host.limits:
            self._told("no limits", why=self.host.why_no_limits)

    async def start(self, spec: ContainerSpec) -> Container:
        body = payload(spec, self.host)
        try:
            await self._api.ask("post", "/containers/create", body=body)
        except Absent as error:
            raise ImageAbsentError(f"image {spec.image} is not in the store: {error}") from error
        try:
            await self._api.ask("post", f"/containers/{spec.name}/start")
        except Absent as error:
            raise EngineUnsureError(f"{spec.name} went between two steps: {error}") from error
        started = await self.find(spec.name)
        if started is None:
            raise EngineUnsureError(f"{spec.name} was started, and is gone")
        return started

    async def remove(self, name: str) -> None:
        with contextlib.suppress(Absent):
            answer = await self._api.ask("delete", f"/containers/{name}", force=True, timeout=0, v=True)
            failed = [each["Err"] for each in answer if each.get("Err")] if isinstance(answer, list) else []
            if failed:
                raise EngineUnsureError(f"Podman did not remove {name}: {failed[0]}")

    async def pause(self, container: Container) -> None:
        """By the cgroup where there is one, else process by process."""
        if self.host.freezer:
            await self._api.ask("post", f"/containers/{container.name}/pause")
        else:
            await self._inside.stop(container.pid)

    async def resume(self, container: Container) -> None:
        if self.host.freezer:
            await self._api.ask("post", f"/containers/{container.name}/unpause")
        else:
            await self._inside.go_on(container.pid)

    async def find(self, name: str) -> Container | None:
        try:
            return _stopped(inspected(name, await self._api.ask("get", f"/containers/{name}/json")))
        except Absent:
            return None

    async def all(self) -> tuple[Container, ...]:
        found = await self._api.ask("get", "/containers/json", all=True, filters={"label": [LABEL]})
        return tuple(_stopped(listed(each)) for each in found or ())

    async def logs(self, name: str) -> str:
        try:
            stream = await self._api.ask(
                "get", f"/containers/{name}/logs", stdout=True, stderr=True, tail=str(_LOG_LINES)
            )
        except Absent:
            return ""
        return log_text(stream)[-_LOG_CHARACTERS:] if isinstance(stream, bytes) else ""

    async def image(self, reference: str) -> ImageFacts | None:
        try:
            body = await self._api.ask("get", f"/images/{reference}/json")
        except Absent:
            return None
        identity = str(body["Id"])
        async with self._looking[identity]:
            if identity not in self._facts:
                facts = facts_of(body)
                pythons, system = await looked_into(self._api, reference, identity)
                self._facts[identity] = replace(facts, pythons=pythons, system=system)
        return self._facts[identity]

    async def fetch(self, reference: str, *, again: bool = False) -> str:
        return await self._supply.fetch(reference, again=again)

    async def build(self, reference: str) -> None:
        await self._supply.build(reference)

    async def build_from(self, directory: str, recipe: str, names: Sequence[str]) -> None:
        await self._supply.build_from(directory, recipe, names)

    async def connect(self, container: Container) -> socket.socket:
        return await self._inside.connect(container.pid, container.port)

    async def ended(self, container: Container) -> None:
        await until_ended(container.pid)

    async def close(self, limit_s: float) -> None:
        with contextlib.suppress(EngineError, EngineUnsureError, TimeoutError):
            async with asyncio.timeout(limit_s):
                for container in await self.all():
                    await self.remove(container.name)
        await self._supply.close()
        await self._inside.close()
        await self.service.close()
        self._api.close()
        await asyncio.to_thread(end_leftovers, self._run_dir)


def _mounts() -> str:
    with contextlib.suppress(OSError), open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""


def _stopped(container: Container) -> Container:
    """Podman does not know of those that were stopped without its help."""
    if container.phase is not Phase.RUNNING:
        return container
    found = stat_of(container.pid)
    return replace(container, phase=Phase.PAUSED) if found is not None and found.state == "T" else container
