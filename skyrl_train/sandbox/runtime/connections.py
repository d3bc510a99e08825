"""The HTTP server in front of the routes. It answers, reports and closes connections that send no HTTP or stop sending.

uvicorn waits for ever for the end of a request's head, and for the rest of a body that no route reads. A few hundred
such connections would leave no file descriptors for the clients of the job.
"""

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from skyrl_train.sandbox.runtime.guard import HAS_KEY
from skyrl_train.sandbox.runtime.request_body import Json

LONGEST_HEAD = 32 * 1024
"""Limit in bytes of a request's line and headers that arrive in pieces; more gets 431."""
HEAD_S = 15.0
"""Time limit for the head, and for the rest of a body after the answer."""
_KEEP_S = 75
"""Longer than clients keep a connection: closing it while a request is on its way would lose the request."""
_GRACEFUL_S = 5
_LINGER_S = 2.0
"""Time for the client to read the answer: closing a connection with unread bytes resets it and loses the answer."""

MOST_UNKEYED = 384
"""Most connections that have not sent the key; the oldest one of more is closed."""
_BACKLOG = 256
"""As many connections are accepted in one step of the loop: with those above, below the usual limit of 1024 descriptors."""

OnRefusal = Callable[..., None]
"""Called for input that never became a request: with a status, the reason and the client's address."""


class Unkeyed:
    """The connections of one server that have not sent the key yet, the oldest first."""

    def __init__(self) -> None:
        self._open: dict[Connection, None] = {}

    def add(self, connection: "Connection") -> None:
        self._open[connection] = None
        if len(self._open) > MOST_UNKEYED:
            oldest = next(iter(self._open))
            del self._open[oldest]
            if not oldest.has_key:
                oldest.transport.abort()

    def discard(self, connection: "Connection") -> None:
        self._open.pop(connection, None)


class Connection(H11Protocol):
    def __init__(
        self, *args: Any, on_refusal: OnRefusal, unkeyed: Unkeyed, head_s: float = HEAD_S, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self._on_refusal = on_refusal
        self._unkeyed = unkeyed
        self._head_s = head_s
        self._deadline: asyncio.TimerHandle | None = None
        self._over = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._unkeyed.add(self)
        self._deadline = self.loop.call_later(self._head_s, self._time_out)

    def data_received(self, data: bytes) -> None:
        if self._over:
            return
        super().data_received(data)
        self._update_deadline()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        self._unkeyed.discard(self)
        super().connection_lost(exc)

    @property
    def has_key(self) -> bool:
        """Whether its last request has the key."""
        return self.scope is not None and bool(self.scope.get(HAS_KEY))

    def send_400_response(self, msg: str) -> None:
        """h11 could not parse the input; its error may have a better status than 400."""
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        self._refuse(status, f"not an HTTP request: {error or msg}")

    def _update_deadline(self) -> None:
        """Sets a deadline while the client owes bytes that no route waits for. More bytes do not extend it."""
        if self._over:
            return
        if self.transport.is_closing() or not self._is_incomplete():
            self._cancel_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self._head_s, self._time_out)

    def _is_incomplete(self) -> bool:
        if self.conn.their_state is h11.IDLE:
            return bool(self.conn.trailing_data[0])
        return self.conn.their_state is h11.SEND_BODY and self.conn.our_state not in (h11.SEND_RESPONSE, h11.SEND_BODY)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _time_out(self) -> None:
        self._deadline = None
        if self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0] and self.cycle is None:
            self.transport.abort()  # no request was begun, so there is nobody to answer
            return
        self._refuse(408, f"the request was not complete after {self._head_s:g} s")

    def _refuse(self, status: int, why: str) -> None:
        self._cancel_deadline()
        self._on_refusal(status, why, self.client[0] if self.client else "")
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # its route hears that its client is gone
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = bytes(Json({"detail": why}).body)
            self.transport.write(
                f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
                + body
            )
        self._over = True
        self.transport.write_eof()
        self._deadline = self.loop.call_later(min(_LINGER_S, self._head_s), self.transport.abort)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """On a signal the server drains first; uvicorn would stop listening at once."""
        yield


def http_server(app: ASGIApp, on_refusal: OnRefusal, *, head_s: float = HEAD_S) -> uvicorn.Server:
    """Without access log; headers of a client never set its address."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        http=partial(Connection, on_refusal=on_refusal, unkeyed=Unkeyed(), head_s=head_s),  # type: ignore[arg-type]  # called as a class is
        ws="none",
        backlog=_BACKLOG,
        proxy_headers=False,
        h11_max_incomplete_event_size=LONGEST_HEAD,
        timeout_keep_alive=_KEEP_S,
        timeout_graceful_shutdown=_GRACEFUL_S,
    )
    return _Server(config)
