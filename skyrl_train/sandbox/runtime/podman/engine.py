"""The engine with Podman. docs/adr/0014-runtime-server.md says which interface is used for what, and why."""

import asyncio
import contextlib
import socket
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from skyrl_train.procfs import stat_of
from skyrl_train.sandbox.engine import (
    LABEL,
    Container,
    ContainerSpec,
    EngineError,
    EngineUnsureError,
    ImageAbsentError,
    Phase,
    Share,
)
from skyrl_train.sandbox.inject import ImageFacts, facts_of
from skyrl_train.sandbox.runtime.podman.api import Absent, Api
from skyrl_train.sandbox.runtime.podman.host import Host, host_of
from skyrl_train.sandbox.runtime.podman.image_contents import read_contents, remove_leftover_readers
from skyrl_train.sandbox.runtime.podman.image_supply import ImageSupply
from skyrl_train.sandbox.runtime.podman.leftovers import end_leftovers
from skyrl_train.sandbox.runtime.podman.namespace_client import NamespaceClient
from skyrl_train.sandbox.runtime.podman.previous_server import remove_half_made
from skyrl_train.sandbox.runtime.podman.process_end import until_ended
from skyrl_train.sandbox.runtime.podman.service import Service
from skyrl_train.sandbox.runtime.podman.spec import container_of_inspect, container_of_list, log_text, payload
from skyrl_train.sandbox.runtime.podman.system_calls import write_strict_profile

_LOG_LINES = 200
_LOG_CHARACTERS = 16_384


class PodmanEngine:
    """The engine of one store."""

    def __init__(
        self,
        service: Service,
        supply: ImageSupply,
        *,
        run_dir: str,
        threads: int,
        strict: bool = True,
        add_event: Callable[..., None],
    ) -> None:
        """`strict`: sandboxes may use fewer system calls than the engine allows."""
        self.service = service
        self._supply = supply
        self._api = Api(service.socket_path, threads)
        self._namespaces = NamespaceClient()
        self._inspection = NamespaceClient()
        """Its own child: a look at all processes must not delay a connection."""
        self._strict = strict
        self._run_dir = run_dir
        self._add_event = add_event
        self._facts: dict[str, ImageFacts] = {}
        self._image_locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.host = Host()

    async def open(self) -> None:
        await self.service.open()
        half_made = await asyncio.to_thread(remove_half_made, self._supply.podman, self._run_dir)
        if half_made:
            self._add_event("unfinished builds removed", containers=half_made)
        host = host_of(await self._api.ask("get", "/info"), mounts=_mounts())
        self.host = replace(host, system_calls=self._profile(host) if self._strict else "")
        await remove_leftover_readers(self._api)
        if not self.host.limits:
            self._add_event("no limits", why=self.host.why_no_limits)

    def _profile(self, host: Host) -> str:
        """The file with the strict rules; without one, says why and leaves the engine's own."""
        try:
            return write_strict_profile(host.system_calls, self._run_dir, cgroups=host.limits)
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._add_event("system calls not limited", why=f"{host.system_calls or 'no profile'}: {error}")
            return ""

    async def start(self, spec: ContainerSpec) -> Container:
        body = payload(spec, self.host)
        try:
            await self._api.ask("post", "/containers/create", body=body)
        except Absent as error:
            raise ImageAbsentError(f"image {spec.image} is not in the store: {error}") from error
        try:
            await self._api.ask("post", f"/containers/{spec.name}/start")
        except Absent as error:
            raise EngineUnsureError(f"{spec.name} disappeared before it was started: {error}") from error
        started = await self.find(spec.name)
        if started is None:
            raise EngineUnsureError(f"{spec.name} was started but no longer exists")
        return started

    async def remove(self, name: str) -> None:
        with contextlib.suppress(Absent):
            answer = await self._api.ask("delete", f"/containers/{name}", force=True, timeout=0, v=True)
            failed = [each["Err"] for each in answer if each.get("Err")] if isinstance(answer, list) else []
            if failed:
                raise EngineUnsureError(f"Podman did not remove {name}: {failed[0]}")

    async def pause(self, container: Container) -> None:
        """Uses the cgroup if there is one, else signals each process."""
        if self.host.freezer:
            await self._api.ask("post", f"/containers/{container.name}/pause")
        else:
            await self._namespaces.stop(container.pid)

    async def resume(self, container: Container) -> None:
        if self.host.freezer:
            await self._api.ask("post", f"/containers/{container.name}/unpause")
        else:
            await self._namespaces.go_on(container.pid)

    async def find(self, name: str) -> Container | None:
        try:
            return _with_pause(container_of_inspect(name, await self._api.ask("get", f"/containers/{name}/json")))
        except Absent:
            return None

    async def all(self) -> tuple[Container, ...]:
        found = await self._api.ask("get", "/containers/json", all=True, filters={"label": [LABEL]})
        return tuple(_with_pause(container_of_list(each)) for each in found or ())

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
        async with self._image_locks[identity]:
            if identity not in self._facts:
                facts = facts_of(body)
                pythons, system = await read_contents(self._api, reference, identity)
                self._facts[identity] = replace(facts, pythons=pythons, system=system)
        return self._facts[identity]

    async def fetch(self, reference: str, *, again: bool = False) -> str:
        return await self._supply.fetch(reference, again=again)

    async def build(self, reference: str) -> None:
        await self._supply.build(reference)

    async def build_from(self, directory: str, recipe: str, names: Sequence[str]) -> None:
        await self._supply.build_from(directory, recipe, names)

    async def connect(self, container: Container) -> socket.socket:
        return await self._namespaces.connect(container.pid, container.port)

    async def enforce(self, containers: Sequence[Container], share: Share) -> dict[str, str]:
        done = await self._inspection.enforce([container.pid for container in containers], share)
        return {each.name: done[each.pid] for each in containers if each.pid in done}

    async def ended(self, container: Container) -> None:
        await until_ended(container.pid)

    async def close(self, limit_s: float) -> None:
        with contextlib.suppress(EngineError, EngineUnsureError, TimeoutError):
            async with asyncio.timeout(limit_s):
                for container in await self.all():
                    await self.remove(container.name)
        await self._supply.close()
        await self._namespaces.close()
        await self._inspection.close()
        await self.service.close()
        self._api.close()
        await asyncio.to_thread(end_leftovers, self._run_dir)


def _mounts() -> str:
    with contextlib.suppress(OSError), open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""


def _with_pause(container: Container) -> Container:
    """Marks a container as paused if we stopped its processes without Podman."""
    if container.phase is not Phase.RUNNING:
        return container
    found = stat_of(container.pid)
    return replace(container, phase=Phase.PAUSED) if found is not None and found.state == "T" else container
