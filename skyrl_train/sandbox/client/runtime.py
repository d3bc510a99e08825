"""Sessions of a runtime: start them, wait for them, and remove them on every way out.

async with RuntimeClient(url, key) as runtime, runtime.sandbox(SandboxRequest(image=image)) as sandbox:
    done = await sandbox.execute("pytest -q", timeout_s=600)
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpx

from skyrl_train.contracts.sandbox import wire
from skyrl_train.contracts.sandbox.agent_server import BINARY
from skyrl_train.contracts.sandbox.references import fault_of
from skyrl_train.sandbox.client.failures import Cause, Failure, SandboxError, Sink, silent
from skyrl_train.sandbox.client.http import Http, Request, Sleep, finished
from skyrl_train.sandbox.client.sandbox import Sandbox
from skyrl_train.sandbox.client.session import SessionInfo, read_session
from skyrl_train.sandbox.client.startup import Startup
from skyrl_train.sandbox.start_request import is_session_id

COMMAND = f"{BINARY} --port {wire.AGENT_PORT}"
"""The command that the real client sends. Runtimes that start images with their own agent server need it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds. A start lasts from the request to the first answer of the sandbox, including queue, pull and build."""

    start_s: float = 600.0
    request_s: float = 30.0
    close_s: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxRequest:
    """The settings of a sandbox."""

    image: str
    session_id: str = field(default_factory=lambda: f"skyrl-{uuid.uuid4().hex}")
    environment: Mapping[str, str] = field(default_factory=dict)
    working_dir: str = "/"
    resource_factor: int = 1
    pull_policy: str = "IfNotPresent"

    def body(self) -> dict[str, object]:
        return {
            "image": self.image,
            "command": COMMAND,
            "working_dir": self.working_dir,
            "environment": dict(self.environment),
            "session_id": self.session_id,
            "image_pull_policy": self.pull_policy,
            "resource_factor": self.resource_factor,
        }


class RuntimeClient:
    """One runtime, by its URL and key. Use it as a context manager."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        limits: Limits | None = None,
        events: Sink = silent,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._url = url.rstrip("/")
        self._headers = {wire.RUNTIME_KEY_HEADER: key} if key else {}
        self.limits = limits or Limits()
        self._http = Http(transport=transport, events=events, sleep=sleep)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await finished(self._http.close())

    @asynccontextmanager
    async def sandbox(self, request: SandboxRequest) -> AsyncIterator[Sandbox]:
        """Starts a sandbox and removes it whatever happens. An error of the removal never hides an earlier one."""
        try:
            sandbox = await self.start(request)
            yield sandbox
        except BaseException:
            await finished(self._remove(request.session_id, quietly=True))
            raise
        await finished(self._remove(request.session_id, quietly=False))

    async def start(self, request: SandboxRequest) -> Sandbox:
        """Returns a sandbox that answers. The caller must `stop` it; after an error or a cancellation it is already removed."""
        self._check(request)
        try:
            return await self._start(request)
        except BaseException:
            await finished(self._remove(request.session_id, quietly=True))
            raise

    async def stop(self, session_id: str) -> None:
        """Removes a session; does nothing if there is none."""
        await finished(self._remove(session_id, quietly=False))

    async def stop_all(self) -> int:
        """Removes all sessions of the runtime; returns how many there were."""
        response = await self._ask("list", "GET", wire.LIST, session_id="")
        names = [str(one["session_id"]) for one in response.json()["runtimes"] if one["session_id"]]
        await asyncio.gather(*map(self.stop, names))
        return len(names)

    async def health(self) -> str:
        """Why the runtime cannot be used; empty if it answers and accepts the key."""
        try:
            await self.find("skyrl-health")
        except SandboxError as error:
            return str(error)
        return ""

    async def find(self, session_id: str) -> SessionInfo | None:
        """A session as the runtime describes it; None if it is unknown."""
        response = await self._ask(
            "look", "GET", f"{wire.SESSIONS}/{session_id}", session_id=session_id, expected=frozenset({404})
        )
        return None if response.status_code == 404 else self._read_session(response, session_id)

    async def pause(self, session_id: str) -> None:
        await self._change_state("pause", wire.PAUSE, session_id)

    async def resume(self, session_id: str) -> None:
        await self._change_state("resume", wire.RESUME, session_id)

    def _check(self, request: SandboxRequest) -> None:
        """Refuses here what the server would refuse, by the same rules."""
        fault = fault_of(request.image, prefix="")
        if fault:
            raise self._failed(Cause.REFERENCE, "start", f"image {request.image[:160]!r}: {fault}", request.session_id)
        if not is_session_id(request.session_id):
            raise self._failed(Cause.REFUSED, "start", f"invalid session id {request.session_id[:80]!r}", "")

    async def _start(self, request: SandboxRequest) -> Sandbox:
        began = asyncio.get_running_loop().time()
        response = await self._ask(
            "start",
            "POST",
            wire.START,
            session_id=request.session_id,
            json=request.body(),
            limit_s=self.limits.start_s,
            patient=True,
        )
        info = self._read_session(response, request.session_id)
        if info.status == wire.Status.PAUSED:  # an earlier client paused it
            await self.resume(request.session_id)
        async with Startup(
            self.find, self._http, info, ends=began + self.limits.start_s, limit_s=self.limits.start_s
        ) as wait:
            return Sandbox(self._http, self, await wait.until_ready())

    async def _change_state(self, operation: str, path: str, session_id: str) -> None:
        """Pause and resume lead to a state, so repeating them does no harm."""
        info = await self.find(session_id)
        if info is None:
            raise self._failed(Cause.LOST, operation, "the runtime does not know this session", session_id)
        await self._ask(operation, "POST", path, session_id=session_id, json={"runtime_id": info.runtime_id})

    async def _remove(self, session_id: str, *, quietly: bool) -> None:
        """Has its own limit. `quietly`: do not raise, because another error is already on its way; the event is still sent."""
        try:
            info = await self.find(session_id)
            if info is not None:
                await self._ask(
                    "stop",
                    "POST",
                    wire.STOP,
                    session_id=session_id,
                    json={"runtime_id": info.runtime_id},
                    limit_s=self.limits.close_s,
                    expected=frozenset({404}),
                )
        except SandboxError:
            if not quietly:
                raise

    async def _ask(
        self,
        operation: str,
        method: str,
        path: str,
        *,
        session_id: str,
        json: object = None,
        limit_s: float | None = None,
        patient: bool = False,
        expected: frozenset[int] = frozenset(),
    ) -> httpx.Response:
        """Every request of this API is repeatable: a start has a session id, the others lead to a state."""
        return await self._http.ask(
            Request(
                operation=operation,
                method=method,
                url=self._url + path,
                limit_s=self.limits.request_s if limit_s is None else limit_s,
                repeatable=True,
                session_id=session_id,
                json=json,
                headers=self._headers,
                patient=patient,
                expected=expected,
            )
        )

    def _read_session(self, response: httpx.Response, session_id: str) -> SessionInfo:
        try:
            body: Any = response.json()
            return read_session(body, session_id)
        except ValueError as error:
            raise self._failed(
                Cause.GARBLED, "look", f"the runtime's answer is not a session: {error}", session_id
            ) from None

    def _failed(self, cause: Cause, operation: str, detail: str, session_id: str) -> SandboxError:
        return self._http.failed(Failure(cause=cause, operation=operation, detail=detail, session_id=session_id))
