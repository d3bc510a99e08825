"""Waits until a started session answers, or finds out why it does not."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

import httpx

from skyrl_train.contracts import sandboxd_api as agent
from skyrl_train.contracts.sandbox import wire
from skyrl_train.sandbox.client.failures import Cause, Failure, SandboxError, cause_of_logs
from skyrl_train.sandbox.client.http import Http
from skyrl_train.sandbox.client.session import SessionInfo

_FIRST_S, _LONGEST_S = 0.05, 2.0
_HEALTH_S = 5.0
_HEALTH_TRIES = 5
_KNOWN = frozenset({status.value for status in wire.PodStatus})


FindSession = Callable[[str], Awaitable[SessionInfo | None]]
"""Asks the runtime for a session by its id; None if it is unknown."""


class Startup:
    """One start, with one deadline for all its steps."""

    def __init__(self, find: FindSession, http: Http, info: SessionInfo, *, ends: float, limit_s: float) -> None:
        """`ends`: by the loop's clock. `limit_s`: for the message."""
        self._find = find
        self._http = http
        self._info = info
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

    async def until_ready(self) -> SessionInfo:
        wait_s = _FIRST_S
        while self._info.pod_status != wire.PodStatus.READY:
            self._give_up_if_over(self._info)
            await self._http.sleep(wait_s)
            wait_s = min(1.5 * wait_s, _LONGEST_S)
            info = await self._find(self._info.session_id)
            if info is None:
                raise self._failed(Cause.LOST, "the runtime lost the session while it was starting")
            self._info = info
        await self._check_answers()
        return self._info

    def _give_up_if_over(self, info: SessionInfo) -> None:
        status = info.pod_status
        if status in wire.TERMINAL_POD_STATUSES:
            said = info.logs.strip() or "its container printed nothing"
            raise self._failed(cause_of_logs(info.logs), f"the sandbox is {status}: {said[-1500:]}")
        if status not in _KNOWN:
            known = ", ".join(sorted(_KNOWN))
            raise self._failed(Cause.STATE, f"unknown pod_status {status!r}; expected one of {known}")

    async def _check_answers(self) -> None:
        """Checks that a sandbox that is called ready also answers."""
        info, error = self._info, ""
        for _ in range(_HEALTH_TRIES):
            fault = await self._health_fault(info)
            if fault is None:
                return
            error = fault
            await self._http.sleep(_FIRST_S)
        if not info.key:
            detail = f"{info.url} is called ready and does not answer ({error}); it has no session key, so it may listen only on its own loopback"
            raise self._failed(Cause.LOOPBACK, detail)
        raise self._failed(Cause.UNREACHABLE, f"{info.url} is called ready and does not answer: {error}")

    async def _health_fault(self, info: SessionInfo) -> str | None:
        try:
            response = await self._http.raw.get(info.url + agent.HEALTH, timeout=_HEALTH_S)
        except (httpx.HTTPError, httpx.InvalidURL) as failure:
            return str(failure) or type(failure).__name__
        return None if response.is_success else f"HTTP {response.status_code}"

    async def _too_late(self) -> SandboxError:
        info = self._info
        if info.pod_status == wire.PodStatus.RUNNING and await self._health_fault(info) is None:
            detail = f"the sandbox answers, but after {self._limit_s:g} s its pod_status is still 'running', which means not ready"
            return self._failed(Cause.STATE, detail)
        detail = f"not ready within {self._limit_s:g} s; its status is {info.pod_status or info.status!r}"
        logs = f": {info.logs.strip()[-1500:]}" if info.logs.strip() else ""
        return self._failed(cause_of_logs(info.logs, Cause.NOT_READY), detail + logs)

    def _failed(self, cause: Cause, detail: str) -> SandboxError:
        return self._http.failed(
            Failure(cause=cause, operation="start", detail=detail, session_id=self._info.session_id)
        )
