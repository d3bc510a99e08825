"""Connections: each has its own thread, and some threads are started ahead.

When a command has used up the sandbox's processes, no thread can be started any more. The waiting threads still answer,
so the command can be stopped.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from _operator import _compare_digest  # constant-time; what hmac offers, without OpenSSL

from skyrl_train.contracts.sandboxd_api import SESSION_KEY_HEADER
from skyrl_train.sandbox.sandboxd.http import DisconnectedError, HttpError, Request, Stream, read_request
from skyrl_train.sandbox.sandboxd.responses import send_json
from skyrl_train.sandbox.sandboxd.routes import Download, Routes

WAITING = 4
MOST_CONNECTIONS = 128
IDLE_S = 900.0
"""Longer than any client keeps a connection, so that no request on its way is lost."""
STALLED_S = 120.0
UNKEYED_S, MOST_UNKEYED = 10.0, 64
"""The longest time until a connection's first request with the key, and the most such connections; the oldest is closed.
Processes of the sandbox have no key, and must not hold all threads."""
_LINGER_S = 5.0
_MOST_LINGER = 64 * 1024 * 1024
_BACKLOG = 256


class Server:
    """Listens for requests. `keys`: the valid session keys; empty: no key is needed."""

    def __init__(self, listener: socket.socket, routes: Routes, keys: list[str]) -> None:
        self._listener = listener
        self._routes = routes
        self._keys = [key.encode("utf-8", "surrogateescape") for key in keys]
        self._lock = threading.Lock()
        self._threads = 0
        self._waiting = 0
        self._unkeyed: list[socket.socket] = []

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
        connection.settimeout(IDLE_S)
        stream = Stream(connection, time.monotonic() + UNKEYED_S if self._keys else None)
        self._watch(connection)
        try:
            while self._one(connection, stream, peer):
                pass
        except (DisconnectedError, OSError):
            pass
        except Exception as error:  # noqa: BLE001 - a fault of ours costs one connection, and no thread
            log(f"error on a connection from {peer}: {type(error).__name__}: {error}")
        finally:
            self._trust(connection)

    def _watch(self, connection: socket.socket) -> None:
        """Counts a connection without a key, and closes the oldest of too many."""
        with self._lock:
            self._unkeyed.append(connection)
            oldest = self._unkeyed.pop(0) if len(self._unkeyed) > MOST_UNKEYED and self._keys else None
            if oldest is not None:
                with contextlib.suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)

    def _trust(self, connection: socket.socket) -> None:
        with self._lock, contextlib.suppress(ValueError):
            self._unkeyed.remove(connection)

    def _one(self, connection: socket.socket, stream: Stream, peer: str) -> bool:
        """Handles one request; returns whether another may follow on this connection."""
        request = None
        try:
            request = read_request(stream, connection)
            if request is None:
                return False
            keyed = self._has_key(request)
            if keyed:
                stream.deadline = None
                self._trust(connection)
                connection.settimeout(STALLED_S)
            request.keep_alive = request.keep_alive and stream.deadline is None
            answer = self._answer(request, keyed=keyed)
        except HttpError as error:
            return self._refuse(connection, request, error, peer)
        if isinstance(answer, Download):
            return answer.send(connection, close=not request.keep_alive) and request.keep_alive
        going_on = request.body.drain() and request.keep_alive
        send_json(connection, 200, answer, close=not going_on)
        if keyed:
            connection.settimeout(IDLE_S)
        return going_on

    def _answer(self, request: Request, *, keyed: bool) -> object:
        answer = self._routes.find(request)
        if self._routes.needs_key(request):
            if not keyed:
                raise HttpError(401, "Unauthorized")
            self._routes.touch()
        try:
            return answer(request)
        except (HttpError, DisconnectedError):
            raise
        except Exception as error:  # the last resort: this client gets a cause, the others go on
            raise HttpError(500, f"{type(error).__name__}: {error}") from error

    def _has_key(self, request: Request) -> bool:
        """Compares all keys, each in constant time."""
        given = request.headers.get(SESSION_KEY_HEADER.lower(), "").encode("latin-1")
        return not self._keys or bool(sum(_compare_digest(given, key) for key in self._keys))

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
    """The text on one line, whatever a client wrote."""
    sys.stderr.write(f"sandboxd: {line.encode('unicode_escape').decode('ascii')}\n")
    sys.stderr.flush()


def _linger(connection: socket.socket) -> None:
    """Reads what is still being sent: closing with unread bytes resets the connection and loses the answer."""
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(_LINGER_S)
    left = _MOST_LINGER
    while left > 0:
        data = connection.recv(262144)
        left -= len(data)
        if not data:
            return
