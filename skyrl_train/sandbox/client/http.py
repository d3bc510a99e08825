"""HTTP requests: each has a deadline, is repeated only if that is safe, and every failure gets a cause.

A request that was not sent may be repeated. One that may have been sent is repeated only if that does no harm.
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
_LONGEST_MESSAGE = 400
_AGAIN = (429, 502, 503, 504)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`limit_s` covers all tries. `repeatable`: sending it twice has the same effect as once."""

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
    """Retry 429 and 503 until the limit; otherwise three tries."""
    expected: frozenset[int] = frozenset()
    """Statuses other than 2xx that are valid answers."""


class Http:
    """One connection pool. Proxies of the environment are ignored: they do not reach compute nodes (ENV013)."""

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
        """For streamed bodies."""
        return self._client

    async def close(self) -> None:
        await self._client.aclose()

    def failed(self, failure: Failure) -> SandboxError:
        """Sends the event and returns the error to raise."""
        self._events(failure)
        return SandboxError(failure)

    async def ask(self, request: Request) -> httpx.Response:
        """Returns the complete answer. Raises SandboxError."""
        last = LastFailure()
        try:
            async with asyncio.timeout(request.limit_s):
                return await self._try(request, last)
        except TimeoutError:
            raise self.failed(_timeout_failure(request, last.failure)) from None

    async def _try(self, request: Request, last: "LastFailure") -> httpx.Response:
        for wait_s in Waits(tries=None if request.patient else 3):
            if last.failure is not None:
                await self.sleep(wait_s if last.failure.retry_after_s is None else last.failure.retry_after_s)
            found = await self._once(request)
            if isinstance(found, httpx.Response):
                return found
            last.failure = found
            if not _may_repeat(request, found):
                break
        assert last.failure is not None
        raise self.failed(last.failure)

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
class LastFailure:
    """How the last try failed, for the message of a timeout."""

    failure: Failure | None = None


class Waits:
    """0.1 s, 0.2 s, 0.4 s … up to 5 s; `tries` None: without end."""

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


def _timeout_failure(request: Request, last: Failure | None) -> Failure:
    """The deadline has passed; the last answer gives the cause."""
    message = f"; last error: {last.detail}" if last is not None else ""
    cause = last.cause if last is not None and last.status is not None else Cause.TIMEOUT
    status = last.status if last is not None else None
    return _failure(request, cause, f"no valid answer within {request.limit_s:g} s{message}", status=status)


def transport_failure(request: Request, error: Exception, *, sent: bool) -> Failure:
    """No answer. `sent`: the request may have arrived."""
    message = str(error).strip() or type(error).__name__
    where = httpx.URL(request.url) if not isinstance(error, httpx.InvalidURL) else request.url
    host = f"{where.host}:{where.port}" if isinstance(where, httpx.URL) else where
    what = "the connection was lost" if sent else f"cannot connect to {host}"
    return replace(
        _failure(request, Cause.LOST if sent else Cause.UNREACHABLE, f"{what}: {message[:_LONGEST_MESSAGE]}"), sent=sent
    )


def refusal(request: Request, response: httpx.Response) -> Failure:
    """The failure that a status means, with the server's message."""
    status, message = response.status_code, error_text(response)
    retry_after_s = _retry_after(response)
    if status in (401, 403):
        detail = "wrong key; client and server must read the key file of the same job"
        return _failure(request, Cause.KEY, f"{status}: {detail}" + (f" ({message})" if message else ""), status=status)
    if status in (429, 503):
        full = status == 429 or "slot" in message.lower()
        cause = Cause.SLOTS if full else Cause.LOAD
        return replace(_failure(request, cause, f"{status}: {message}", status=status), retry_after_s=retry_after_s)
    if status >= 500:
        return _failure(request, Cause.LOAD, f"{status}: {message}", status=status)
    return _failure(request, Cause.REFUSED, f"{status}: {message}", status=status)


def error_text(response: httpx.Response) -> str:
    """The message in an error's body: {"detail": …}, {"error": …}, or the text itself, shortened."""
    try:
        body: Any = response.json()
    except (ValueError, RecursionError):
        body = response.text
    if isinstance(body, dict):
        body = body.get("detail") or body.get("error") or body
    return " ".join(str(body).split())[:_LONGEST_MESSAGE] or response.reason_phrase


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds; None for a date or an invalid value."""
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
    """Finishes a clean-up even if the task is cancelled meanwhile, then raises the cancellation. `work` needs its own
    limit."""
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
