"""The HTTP server in front of the routes: what is no HTTP, and who does not go on, is told, answered and let go.

uvicorn itself waits for ever for the end of a request's head, and for the rest of a body that nobody wants any more: a
few hundred such connections would leave no descriptor for the clients of the job.
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

from skyrl_train.sandbox.runtime.request_body import Json

LONGEST_HEAD = 32 * 1024
"""Bytes of a request's line and headers, where they do not come at once. More is 431."""
HEAD_S = 15.0
"""For them to come; and for what is left of a body after its answer."""
_KEEP_S = 75
"""Longer than clients keep a connection: one that is closed while a request is on its way is a request lost."""
_GRACEFUL_S = 5
_LINGER_S = 2.0
"""To read the answer in: a connection that is closed over bytes on their way is reset, and the answer lost."""

Told = Callable[..., None]
"""Hears of what never became a request: a status, why, and the client's address."""


class Connection(H11Protocol):
    def __init__(self, *args: Any, told: Told, head_s: float = HEAD_S, **more: Any) -> None:
        super().__init__(*args, **more)
        self._told = told
        self._head_s = head_s
        self._deadline: asyncio.TimerHandle | None = None
        self._over = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self._head_s, self._late)

    def data_received(self, data: bytes) -> None:
        if self._over:
            return
        super().data_received(data)
        self._expect()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """h11 could not read it. What it raised knows a better status than 400."""
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        self._refuse(status, f"no HTTP request: {error or msg}")

    def _expect(self) -> None:
        """A deadline stands while the client owes something that no route waits for; more bytes do not put it off."""
        if self._over:
            return
        if self.transport.is_closing() or not self._owes():
            self._forget()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self._head_s, self._late)

    def _owes(self) -> bool:
        if self.conn.their_state is h11.IDLE:
            return bool(self.conn.trailing_data[0])
        return self.conn.their_state is h11.SEND_BODY and self.conn.our_state not in (h11.SEND_RESPONSE, h11.SEND_BODY)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _late(self) -> None:
        self._deadline = None
        if self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0] and self.cycle is None:
            self.transport.abort()  # nothing was ever asked: nobody is there to be told
            return
        self._refuse(408, f"the request did not come within {self._head_s:g} s")

    def _refuse(self, status: int, why: str) -> None:
        self._forget()
        self._told(status, why, self.client[0] if self.client else "")
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
        """A signal drains first; uvicorn would stop to listen at once."""
        yield


def http_server(app: ASGIApp, told: Told, *, head_s: float = HEAD_S) -> uvicorn.Server:
    """No access log; and no header of a client's says who it is."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        http=partial(Connection, told=told, head_s=head_s),  # type: ignore[arg-type]  # called as a class is
        ws="none",
        proxy_headers=False,
        h11_max_incomplete_event_size=LONGEST_HEAD,
        timeout_keep_alive=_KEEP_S,
        timeout_graceful_shutdown=_GRACEFUL_S,
    )
    return _Server(config)
