"""Connections: each has a thread while it lasts, and some threads wait beforehand.

When a command has used up the sandbox's processes no thread can be started any more; those that wait still answer, and
the command can still be stopped.
"""

from __future__ import annotations

import socket
import sys
import threading
from _operator import _compare_digest  # constant-time; what hmac offers, without OpenSSL

from skyrl_train.contracts.sandboxd_api import SESSION_KEY_HEADER
from skyrl_train.sandbox.sandboxd.http import DisconnectedError, HttpError, Request, Stream, read_request
from skyrl_train.sandbox.sandboxd.responses import send_json
from skyrl_train.sandbox.sandboxd.routes import Download, Routes

WAITING = 4
MOST_CONNECTIONS = 128
IDLE_S = 900.0
"""Longer than any client keeps a connection, so that none is closed under a request that is on its way."""
STALLED_S = 120.0
_LINGER_S = 5.0
_MOST_LINGER = 64 * 1024 * 1024
_BACKLOG = 256


class Server:
    """Listens; `keys` are the session keys that count, and none means that none is wanted."""

    def __init__(self, listener: socket.socket, routes: Routes, keys: list[str]) -> None:
        self._listener = listener
        self._routes = routes
        self._keys = [key.encode("utf-8", "surrogateescape") for key in keys]
        self._lock = threading.Lock()
        self._threads = 0
        self._waiting = 0

    def start(self) -> None:
        for _ in range(WAITING):
            self._add_thread()

    def _add_thread(self) -> None:
        with self._lock:
            if self._threads >= MOST_CONNECTIONS:
                return
            self._threads += 1
            self._waiting += 1
        try:
            threading.Thread(target=self._work, daemon=True).start()
        except RuntimeError:
            with self._lock:
                self._threads -= 1
                self._waiting -= 1

    def _work(self) -> None:
        while True:
            try:
                connection, peer = self._listener.accept()
            except OSError:
                return  # closed: the server ends
            with self._lock:
                self._waiting -= 1
                short = self._waiting < WAITING
            if short:
                self._add_thread()
            with connection:
                self._converse(connection, f"{peer[0]}:{peer[1]}")
            with self._lock:
                surplus = self._waiting >= 2 * WAITING
                self._threads -= surplus
                self._waiting += not surplus
            if surplus:
                return

    def _converse(self, connection: socket.socket, peer: str) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = Stream(connection)
        try:
            while self._one(connection, stream, peer):
                pass
        except (DisconnectedError, OSError):
            pass
        except Exception as error:  # noqa: BLE001 - a fault of ours costs one connection, and no thread
            log(f"fault on a connection from {peer}: {type(error).__name__}: {error}")

    def _one(self, connection: socket.socket, stream: Stream, peer: str) -> bool:
        """One request; whether another may follow on this connection."""
        connection.settimeout(IDLE_S)
        request = None
        try:
            request = read_request(stream, connection)
            if request is None:
                return False
            connection.settimeout(STALLED_S)
            answer = self._answer(request)
        except HttpError as error:
            return self._refuse(connection, request, error, peer)
        if isinstance(answer, Download):
            return answer.send(connection, close=not request.keep_alive) and request.keep_alive
        going_on = request.body.drain() and request.keep_alive
        send_json(connection, 200, answer, close=not going_on)
        return going_on

    def _answer(self, request: Request) -> object:
        answer = self._routes.find(request)
        if self._routes.needs_key(request):
            self._check_key(request)
            self._routes.touch()
        try:
            return answer(request)
        except (HttpError, DisconnectedError):
            raise
        except Exception as error:  # the last resort: this client gets a cause, the others go on
            raise HttpError(500, f"{type(error).__name__}: {error}") from error

    def _check_key(self, request: Request) -> None:
        """Every key is looked at, and each in the same time."""
        given = request.headers.get(SESSION_KEY_HEADER.lower(), "").encode("latin-1")
        if self._keys and not sum(_compare_digest(given, key) for key in self._keys):
            raise HttpError(401, "Unauthorized")

    def _refuse(self, connection: socket.socket, request: Request | None, error: HttpError, peer: str) -> bool:
        what = f"{request.method} {request.path}" if request else "what was sent"
        log(f"{error.status} for {what[:300]} from {peer}: {str(error.detail)[:300]}")
        going_on = request is not None and request.keep_alive and request.body.drain()
        send_json(connection, error.status, {"detail": error.detail}, close=not going_on, **error.headers)
        if not going_on:
            _linger(connection)
        return going_on


def listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(_BACKLOG)
    return listener


def log(line: str) -> None:
    """One line, whatever a client put into it."""
    sys.stderr.write(f"sandboxd: {line.encode('unicode_escape').decode('ascii')}\n")
    sys.stderr.flush()


def _linger(connection: socket.socket) -> None:
    """Takes what is still being sent: a connection that is closed on it is reset, and the answer is lost with it."""
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(_LINGER_S)
    left = _MOST_LINGER
    while left > 0:
        data = connection.recv(262144)
        left -= len(data)
        if not data:
            return
