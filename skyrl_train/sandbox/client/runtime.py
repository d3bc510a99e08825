"""Sessions of a runtime: started, waited for, and removed on every way out.

async with RuntimeClient(url, key) as runtime, runtime.sandbox(Wanted(image=image)) as sandbox:
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
from skyrl_train.sandbox.client.session import Seen, read_seen
from skyrl_train.sandbox.client.startup import Waiting
from skyrl_train.sandbox.start_request import is_session_id

COMMAND = f"{BINARY} --port {wire.AGENT_PORT}"
"""What the real client sends. Runtimes that start images with an agent server of their own need it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds. A start counts from the request to the first answer of the sandbox, with queue, pull and build."""

    start_s: float = 600.0
    request_s: float = 30.0
    close_s: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A sandbox to be."""

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
    async def sandbox(self, wanted: Wanted) -> AsyncIterator[Sandbox]:
        """Starts one, and removes it whatever happens. What stop says does not hide what happened before."""
        try:
            sandbox = await self.start(wanted)
            yield sandbox
        except BaseException:
            await finished(self._removed(wanted.session_id, quietly=True))
            raise
        await finished(self._removed(wanted.session_id, quietly=False))

    async def start(self, wanted: Wanted) -> Sandbox:
        """A sandbox that answers. The caller has to `stop` it; after an error or a cancellation there is none."""
        self._check(wanted)
        try:
            return await self._started(wanted)
        except BaseException:
            await finished(self._removed(wanted.session_id, quietly=True))
            raise

    async def stop(self, session_id: str) -> None:
        """Removes a session; that there is none is fine."""
        await finished(self._removed(session_id, quietly=False))

    async def stop_all(self) -> int:
        """Removes every session, whoever started it, and says how many there were."""
        response = await self._ask("list", "GET", wire.LIST, session_id="")
        names = [str(one["session_id"]) for one in response.json()["runtimes"] if one["session_id"]]
        await asyncio.gather(*map(self.stop, names))
        return len(names)

    async def look(self, session_id: str) -> Seen | None:
        """What the runtime says of a session; None where it knows none."""
        response = await self._ask(
            "look", "GET", f"{wire.SESSIONS}/{session_id}", session_id=session_id, expected=frozenset({404})
        )
        return None if response.status_code == 404 else self._seen(response, session_id)

    async def pause(self, session_id: str) -> None:
        await self._told("pause", wire.PAUSE, session_id)

    async def resume(self, session_id: str) -> None:
        await self._told("resume", wire.RESUME, session_id)

    def _check(self, wanted: Wanted) -> None:
        """What the server would refuse is refused here, with the same rules."""
        fault = fault_of(wanted.image, prefix="")
        if fault:
            raise self._failed(Cause.REFERENCE, "start", f"image {wanted.image[:160]!r}: {fault}", wanted.session_id)
        if not is_session_id(wanted.session_id):
            raise self._failed(Cause.REFUSED, "start", f"{wanted.session_id[:80]!r} is no session id", "")

    async def _started(self, wanted: Wanted) -> Sandbox:
        began = asyncio.get_running_loop().time()
        response = await self._ask(
            "start",
            "POST",
            wire.START,
            session_id=wanted.session_id,
            json=wanted.body(),
            limit_s=self.limits.start_s,
            patient=True,
        )
        seen = self._seen(response, wanted.session_id)
        if seen.status == wire.Status.PAUSED:  # of an earlier client, which left it so
            await self.resume(wanted.session_id)
        async with Waiting(
            self, self._http, seen, ends=began + self.limits.start_s, limit_s=self.limits.start_s
        ) as wait:
            return Sandbox(self._http, self, await wait.until_ready())

    async def _told(self, operation: str, path: str, session_id: str) -> None:
        """Pause and resume lead to a state, so that asking twice does no harm."""
        seen = await self.look(session_id)
        if seen is None:
            raise self._failed(Cause.LOST, operation, "the runtime knows no such session", session_id)
        await self._ask(operation, "POST", path, session_id=session_id, json={"runtime_id": seen.runtime_id})

    async def _removed(self, session_id: str, *, quietly: bool) -> None:
        """With a limit of its own. `quietly`: an error is on its way already; the event tells of this one."""
        try:
            seen = await self.look(session_id)
            if seen is not None:
                await self._ask(
                    "stop",
                    "POST",
                    wire.STOP,
                    session_id=session_id,
                    json={"runtime_id": seen.runtime_id},
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
        """Every request of this API is repeatable: a start by its session id, the others by the state they lead to."""
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

    def _seen(self, response: httpx.Response, session_id: str) -> Seen:
        try:
            body: Any = response.json()
            return read_seen(body, session_id)
        except ValueError as error:
            raise self._failed(
                Cause.GARBLED, "look", f"the runtime's answer is no session: {error}", session_id
            ) from None

    def _failed(self, cause: Cause, operation: str, detail: str, session_id: str) -> SandboxError:
        return self._http.failed(Failure(cause=cause, operation=operation, detail=detail, session_id=session_id))
