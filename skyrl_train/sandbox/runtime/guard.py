"""Checks the key before every route, and turns errors into answers."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from skyrl_train.contracts.sandbox.wire import HEALTH, RUNTIME_KEY_HEADER
from skyrl_train.sandbox.engine import EngineUnsureError
from skyrl_train.sandbox.runtime.keys import same_key
from skyrl_train.sandbox.runtime.refusals import RefusedError
from skyrl_train.sandbox.runtime.request_body import Json
from skyrl_train.sandbox.runtime.telemetry import Telemetry

_OPEN = (HEALTH, "/alive")
"""Routes without a key: they only show that the server answers."""
_RETRY_S = 5
HAS_KEY = "skyrl.has_key"
"""Set in the scope of a request with the runtime's key."""


class Refusals:
    """Answers refused requests, counts them, and adds an event for each that has the key."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._events = telemetry.events
        self._metrics = telemetry.metrics

    async def handler(self, request: Request, error: Exception) -> Response:
        return self.answer(request, as_refusal(error))

    def answer(self, request: Request, refused: RefusedError) -> Response:
        self._metrics.refused.labels(str(refused.status)).inc()
        client, path = request.client.host if request.client else "", request.url.path[:200]
        why, method = str(refused), request.method
        if not request.scope.get(HAS_KEY):
            self._events.strangers.add(status=refused.status, why=why, client=client, method=method, path=path)
        elif refused.status != 404:  # clients ask for sessions that are not there yet
            self._events.add("refused", status=refused.status, why=why, method=method, path=path, client=client)
        headers = {} if refused.retry_after_s is None else {"Retry-After": str(refused.retry_after_s)}
        return Json({"detail": str(refused)}, refused.status, headers=headers)

    def unread(self, status: int, why: str, client: str) -> None:
        """For input that never became a request."""
        self._metrics.refused.labels(str(status)).inc()
        self._events.strangers.add(status=status, why=why, client=client)


class Guard:
    def __init__(self, app: ASGIApp, *, key: str, refusals: Refusals) -> None:
        self._app = app
        self._key = key
        self.refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        has_key = same_key(request.headers.get(RUNTIME_KEY_HEADER), self._key)
        scope[HAS_KEY] = has_key
        if request.url.path in _OPEN or has_key:  # FIX(RUN001)
            await self._app(scope, receive, send)
            return
        given = "wrong" if RUNTIME_KEY_HEADER in request.headers else "missing"
        refused = RefusedError(401, f"{given} key in {RUNTIME_KEY_HEADER}")
        await self.refusals.answer(request, refused)(scope, receive, send)


def as_refusal(error: Exception) -> RefusedError:
    """An error of the engine is not the client's fault, and is often temporary."""
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, EngineUnsureError):
        return RefusedError(503, str(error), retry_after_s=_RETRY_S)
    return RefusedError(502, str(error) or type(error).__name__)
