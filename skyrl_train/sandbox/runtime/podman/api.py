"""Calls to Podman's service through podman-py, in threads, each within a time limit.

podman-py's objects inspect a container again after every step; its session makes one request a step.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from podman.api.client import APIClient
from podman.errors import APIError, PodmanError

from skyrl_train.sandbox.engine import EngineError, EngineUnsureError

CALL_S = 60.0
_OK = range(200, 300)
_NOT_MODIFIED, _ABSENT, _CONFLICT = 304, 404, 409
_PASSING = (
    "database is locked",  # FIX(POD009), a burst of starts on SQLite
    "resource temporarily unavailable",
    "device or resource busy",
    "already in use",  # by a call of ours whose answer was lost
    "container state improper",  # its end and its removal at the same time
    "context canceled",
    "connection reset by peer",
    "broken pipe",
)


class Absent(EngineError):  # noqa: N818 -- an answer, where absence is one
    """Status 404."""


class Api:
    """Calls one service. Each thread has its own connection: a session of `requests` is for one thread."""

    def __init__(self, socket_path: str, threads: int) -> None:
        self._url = f"unix://{socket_path}"
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="podman")
        self._own = threading.local()

    async def ask(
        self, method: str, path: str, *, limit_s: float = CALL_S, body: object = None, **params: object
    ) -> Any:
        """Returns the answer's JSON, or bytes if it is not JSON. EngineError: Podman refused. EngineUnsureError: no answer."""
        return await self._in_thread(lambda: self._ask(method, path, limit_s, body, params))

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        """A cancelled task still waits for its call, which must not take effect unnoticed."""
        future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait({future})
            if not future.cancelled():
                future.exception()
            raise

    def _ask(self, method: str, path: str, limit_s: float, body: object, params: Mapping[str, object]) -> Any:
        client = self._client()
        sent: dict[str, Any] = {"params": _query(params), "timeout": limit_s}
        if body is not None:
            sent |= {"data": json.dumps(body), "headers": {"Content-Type": "application/json"}}
        try:
            answer = getattr(client, method)(path, **sent)
            content: bytes = answer.content
        except (APIError, PodmanError, OSError) as error:
            self._own.client = None
            raise EngineUnsureError(
                f"Podman's service did not answer {method.upper()} {path.split('?')[0]}: {_why(error)}"
            ) from error
        if answer.status_code in _OK or answer.status_code == _NOT_MODIFIED:
            return _json(content)
        raise _refusal(answer.status_code, content)

    def _client(self) -> APIClient:
        if getattr(self._own, "client", None) is None:
            self._own.client = APIClient(base_url=self._url, timeout=CALL_S)
        return self._own.client

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _query(params: Mapping[str, object]) -> dict[str, str]:
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in params.items()
        if value is not None
    }


def _json(content: bytes) -> Any:
    """Frames of a log are not text, though json would guess an encoding for them."""
    try:
        return json.loads(content.decode("utf-8"))
    except ValueError:
        return content


def _refusal(status: int, content: bytes) -> EngineError | EngineUnsureError:
    body = _json(content)
    words = str(body.get("message") or body.get("cause")) if isinstance(body, dict) else str(content[:300])
    if status == _ABSENT:
        return Absent(f"Podman: {words}")
    if status == _CONFLICT or any(text in words.lower() for text in _PASSING):
        return EngineUnsureError(f"Podman: {words}")
    return EngineError(f"Podman: {words}")


def _why(error: Exception) -> str:
    inner = error.__cause__ or error.__context__ or error
    return f"{type(inner).__name__}: {inner}"[:300]
