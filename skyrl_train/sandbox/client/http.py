"""Requests with a deadline each, asked again only where that is safe, and every refusal turned into its cause.

What was not sent may always be sent again. What may have been sent is sent again only if doing it twice does no harm.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpx

from skyrl_train.sandbox.client.failures import Cause, Failure, SandboxError, Sink, silent

Sleep = Callable[[float], Awaitable[None]]
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 5.0
_SHOWN = 400
_AGAIN = (429, 502, 503, 504)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`limit_s` is for all tries together. `repeatable`: doing it twice is as good as once."""

    operation: str
    method: str
    url: str
    limit_s: float
    repeatable: bool
    session_id: str = ""
    json: object = None
    params: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None
    patient: bool = False
    """Whether 429 and 503 are waited out until the limit; else three tries are enough."""
    expected: frozenset[int] = frozenset()
    """Statuses beside 2xx that are answers and no failures."""


class Http:
    """One connection pool. Proxies of the environment are passed by: they do not reach compute nodes (ENV013)."""

    def __init__(
        self,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        connections: int = 200,
        connect_s: float = 10.0,
        events: Sink = silent,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.connect_s = connect_s
        self._client = httpx.AsyncClient(
            transport=transport,
            trust_env=False,
            follow_redirects=False,
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections // 2),
            timeout=httpx.Timeout(None, connect=connect_s),
        )
        self._events = events
        self.sleep = sleep

    @property
    def raw(self) -> httpx.AsyncClient:
        """For bodies that are streamed."""
        return self._client

    async def close(self) -> None:
        await self._client.aclose()

    def failed(self, failure: Failure) -> SandboxError:
        """The error to raise; the event is out with it."""
        self._events(failure)
        return SandboxError(failure)

    async def ask(self, request: Request) -> httpx.Response:
        """The answer, read whole. Raises SandboxError."""
        tries = Tries()
        try:
            async with asyncio.timeout(request.limit_s):
                return await self._tried(request, tries)
        except TimeoutError:
            raise self.failed(_late(request, tries.last)) from None

    async def _tried(self, request: Request, tries: "Tries") -> httpx.Response:
        for wait_s in Waits(tries=None if request.patient else 3):
            if tries.last is not None:
                await self.sleep(wait_s if tries.last.retry_after_s is None else tries.last.retry_after_s)
            found = await self._once(request)
            if isinstance(found, httpx.Response):
                return found
            tries.last = found
            if not _may_repeat(request, found):
                break
        assert tries.last is not None
        raise self.failed(tries.last)

    async def _once(self, request: Request) -> httpx.Response | Failure:
        try:
            response = await self._client.request(
                request.method,
                request.url,
                json=request.json,
                params=request.params,
                headers=request.headers,
            )
        except NOT_SENT as error:
            return transport_failure(request, error, sent=False)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return transport_failure(request, error, sent=True)
        if response.is_success or response.status_code in request.expected:
            return response
        return refusal(request, response)


@dataclass(slots=True)
class Tries:
    """How the last one failed, for whoever runs out of time."""

    last: Failure | None = None


class Waits:
    """0.1 s, 0.2 s, 0.4 s … up to 5 s; at most so many tries."""

    def __init__(self, tries: int | None) -> None:
        self._left = tries
        self._wait_s = _FIRST_WAIT_S / 2

    def __iter__(self) -> "Waits":
        return self

    def __next__(self) -> float:
        if self._left is not None:
            if self._left == 0:
                raise StopIteration
            self._left -= 1
        self._wait_s = min(2 * self._wait_s, _LONGEST_WAIT_S)
        return self._wait_s


def _may_repeat(request: Request, failure: Failure) -> bool:  # FIX(RUN010)
    if failure.status is not None:
        return failure.status in _AGAIN and (request.repeatable or failure.status in (429, 503))
    return not failure.sent or request.repeatable


def _late(request: Request, last: Failure | None) -> Failure:
    """The deadline is over; what the last answer said is the reason."""
    said = f"; the last answer: {last.detail}" if last is not None else ""
    cause = last.cause if last is not None and last.status is not None else Cause.TIMEOUT
    status = last.status if last is not None else None
    return _failure(request, cause, f"no good answer within {request.limit_s:g} s{said}", status=status)


def transport_failure(request: Request, error: Exception, *, sent: bool) -> Failure:
    """No answer came. `sent`: the request may have arrived."""
    said = str(error).strip() or type(error).__name__
    where = httpx.URL(request.url) if not isinstance(error, httpx.InvalidURL) else request.url
    host = f"{where.host}:{where.port}" if isinstance(where, httpx.URL) else where
    what = "the connection broke off" if sent else f"{host} cannot be reached"
    return replace(_failure(request, Cause.LOST if sent else Cause.UNREACHABLE, f"{what}: {said[:_SHOWN]}"), sent=sent)


def refusal(request: Request, response: httpx.Response) -> Failure:
    """What a status means, with the server's own sentence."""
    status, said = response.status_code, said_by(response)
    retry_after_s = _retry_after(response)
    if status in (401, 403):
        detail = "the runtime or the sandbox refuses the key; client and server must read the same job's key file"
        return _failure(request, Cause.KEY, f"{status}: {detail}" + (f" ({said})" if said else ""), status=status)
    if status in (429, 503):
        full = status == 429 or "slot" in said.lower()
        cause = Cause.SLOTS if full else Cause.LOAD
        return replace(_failure(request, cause, f"{status}: {said}", status=status), retry_after_s=retry_after_s)
    if status >= 500:
        return _failure(request, Cause.LOAD, f"{status}: {said}", status=status)
    return _failure(request, Cause.REFUSED, f"{status}: {said}", status=status)


def said_by(response: httpx.Response) -> str:
    """The sentence in an error's body: {"detail": …}, {"error": …}, or the text itself, cut short."""
    try:
        body: Any = response.json()
    except (ValueError, RecursionError):
        body = response.text
    if isinstance(body, dict):
        body = body.get("detail") or body.get("error") or body
    return " ".join(str(body).split())[:_SHOWN] or response.reason_phrase


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds; a date, or nonsense, counts as nothing said."""
    try:
        seconds = float(response.headers.get("Retry-After", ""))
    except ValueError:
        return None
    return min(seconds, 300.0) if seconds >= 0 else None


def _failure(request: Request, cause: Cause, detail: str, *, status: int | None = None) -> Failure:
    return Failure(
        cause=cause, operation=request.operation, detail=detail, session_id=request.session_id, status=status
    )


async def finished(work: Awaitable[None]) -> None:
    """Sees a clean-up through although the task is cancelled meanwhile; the cancellation follows. It must have a limit
    of its own."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
        except Exception:  # noqa: BLE001 -- it is the task's, and raised below
            break
    if cancelled is not None:
        if not task.cancelled():
            task.exception()
        raise cancelled
    task.result()
