"""From a session that was started to a sandbox that answers, or to why it does not."""

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Self

import httpx

from skyrl_train.contracts import sandboxd_api as agent
from skyrl_train.contracts.sandbox import wire
from skyrl_train.sandbox.client.failures import Cause, Failure, SandboxError, cause_of_logs
from skyrl_train.sandbox.client.http import Http
from skyrl_train.sandbox.client.session import Seen

if TYPE_CHECKING:
    from skyrl_train.sandbox.client.runtime import RuntimeClient

_FIRST_S, _LONGEST_S = 0.05, 2.0
_HEALTH_S = 5.0
_HEALTH_TRIES = 5
_KNOWN = frozenset({status.value for status in wire.PodStatus})


class Waiting:
    """A start in progress, with one deadline for all of it."""

    def __init__(self, runtime: "RuntimeClient", http: Http, seen: Seen, *, ends: float, limit_s: float) -> None:
        """`ends` by the loop's clock, `limit_s` for the message."""
        self._runtime = runtime
        self._http = http
        self._seen = seen
        self._limit_s = limit_s
        self._timeout = asyncio.timeout_at(ends)

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            raise await self._too_late() from None

    async def until_ready(self) -> Seen:
        wait_s = _FIRST_S
        while self._seen.pod_status != wire.PodStatus.READY:
            self._give_up_if_over(self._seen)
            await self._http.sleep(wait_s)
            wait_s = min(1.5 * wait_s, _LONGEST_S)
            seen = await self._runtime.look(self._seen.session_id)
            if seen is None:
                raise self._failed(Cause.LOST, "the runtime forgot the session while it came up")
            self._seen = seen
        await self._answers()
        return self._seen

    def _give_up_if_over(self, seen: Seen) -> None:
        status = seen.pod_status
        if status in wire.TERMINAL_POD_STATUSES:
            said = seen.logs.strip() or "its container said nothing"
            raise self._failed(cause_of_logs(seen.logs), f"the sandbox is {status}: {said[-1500:]}")
        if status not in _KNOWN:
            known = ", ".join(sorted(_KNOWN))
            raise self._failed(Cause.STATE, f"the runtime calls it {status!r}; clients know {known}")

    async def _answers(self) -> None:
        """The runtime says ready; now the sandbox itself must answer."""
        seen, error = self._seen, ""
        for _ in range(_HEALTH_TRIES):
            fault = await self._health_fault(seen)
            if fault is None:
                return
            error = fault
            await self._http.sleep(_FIRST_S)
        if not seen.key:
            detail = f"{seen.url} is called ready and does not answer ({error}); it has no session key, so it may listen on its own loopback only"
            raise self._failed(Cause.LOOPBACK, detail)
        raise self._failed(Cause.UNREACHABLE, f"{seen.url} is called ready and does not answer: {error}")

    async def _health_fault(self, seen: Seen) -> str | None:
        try:
            response = await self._http.raw.get(seen.url + agent.HEALTH, timeout=_HEALTH_S)
        except (httpx.HTTPError, httpx.InvalidURL) as failure:
            return str(failure) or type(failure).__name__
        return None if response.is_success else f"HTTP {response.status_code}"

    async def _too_late(self) -> SandboxError:
        seen = self._seen
        if seen.pod_status == wire.PodStatus.RUNNING and await self._health_fault(seen) is None:
            detail = f"the sandbox answers, but for {self._limit_s:g} s the runtime called it 'running', which means not ready"
            return self._failed(Cause.STATE, detail)
        detail = f"not ready within {self._limit_s:g} s; the runtime calls it {seen.pod_status or seen.status!r}"
        logs = f": {seen.logs.strip()[-1500:]}" if seen.logs.strip() else ""
        return self._failed(cause_of_logs(seen.logs, Cause.NOT_READY), detail + logs)

    def _failed(self, cause: Cause, detail: str) -> SandboxError:
        return self._http.failed(
            Failure(cause=cause, operation="start", detail=detail, session_id=self._seen.session_id)
        )
