"""Serves the viewer on loopback. Other users and other pages of the browser may reach the port, so each request must name the
token in its path and the server's own address in its Host header.
"""

import hmac
import json
import secrets
import socket
import sqlite3
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from skyrl_train.contracts.printable import printable
from skyrl_train.view.answers import Answers, NotFoundError, filters_of, whole
from skyrl_train.view.index import Index

HOST = "127.0.0.1"
IDLE_S = 20.0
FOLLOW_S = 2.0
MOST_ANSWERS = 32
"""Requests with the token that are answered at once."""
MOST_STRANGERS = 32
"""Connections that have not named the token yet. The oldest is closed for a new one."""
STATIC = {
    "": ("index.html", "text/html; charset=utf-8"),
    "view.js": ("view.js", "text/javascript; charset=utf-8"),
    "view.css": ("view.css", "text/css; charset=utf-8"),
}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Viewer(ThreadingHTTPServer):
    """The server and its thread that reads new rollouts."""

    daemon_threads = True
    request_queue_size = 16

    def __init__(self, index: Index, *, title: str, port: int = 0, token: str = "") -> None:
        super().__init__((HOST, port), Handler)
        self.token = token or secrets.token_urlsafe(24)
        self.title, self.index, self.answers = title, index, Answers(index)
        self.reading = True
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}
        self.answering = threading.BoundedSemaphore(MOST_ANSWERS)
        self.strangers: OrderedDict[socket.socket, None] = OrderedDict()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._reader = threading.Thread(target=self._follow, name="index", daemon=True)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def start(self) -> None:
        """Begins to read the rollouts."""
        self._reader.start()

    def stop(self) -> None:
        self._ended.set()
        if self._reader.is_alive():
            self._reader.join(timeout=5.0)
        self.server_close()
        self.index.close()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self.strangers[request] = None
            oldest = self.strangers.popitem(last=False)[0] if len(self.strangers) > MOST_STRANGERS else None
        if oldest is not None:
            with suppress(OSError):  # it has just ended
                oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        super().process_request_thread(request, client_address)
        self.know(request)
        self.index.forget_thread()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is nobody's fault."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def know(self, connection: socket.socket) -> None:
        """It named the token, or ended."""
        with self._lock:
            self.strangers.pop(connection, None)

    def _follow(self) -> None:
        while not self._ended.is_set():
            self.reading = True
            try:
                any(self._ended.is_set() for _ in self.index.update())
            except sqlite3.Error as error:  # a full disk or quota; asked again at the next turn
                self.index.trouble = f"the index of the rollouts cannot be written: {error}"
            self.reading = False
            self._ended.wait(FOLLOW_S)


class Handler(BaseHTTPRequestHandler):
    server: Viewer
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    server_version, sys_version = "skyrl-train", ""

    def do_GET(self) -> None:
        if self.headers.get("Host") not in self.server.hosts:
            self._send(421, b"Misdirected Request: open the address that skyrl-train view printed\n", "text/plain")
            return
        try:
            address = urlsplit(self.path)
        except ValueError:
            self._send(400, b"Bad Request\n", "text/plain")
            return
        token, slash, rest = address.path.removeprefix("/").partition("/")
        if not slash or not hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()):
            self._send(404, b"Not Found\n", "text/plain")
            return
        self.server.know(self.connection)
        with self.server.answering:
            self._serve(rest, address.query)

    def _serve(self, rest: str, query: str) -> None:
        if rest in STATIC:
            name, kind = STATIC[rest]
            self._send(200, files("skyrl_train.view").joinpath("static", name).read_bytes(), kind)
            return
        try:
            words = dict(parse_qsl(query, max_num_fields=20))
            self._json(200, self._answer(unquote(rest), words))
        except NotFoundError as error:
            self._json(404, {"error": printable(str(error))})
        except ValueError as error:
            self._json(400, {"error": printable(str(error))})

    def _answer(self, question: str, words: Mapping[str, str]) -> Mapping[str, Any]:
        answers = self.server.answers
        match question:
            case "api/state":
                return {**answers.state(), "title": printable(self.server.title), "reading": self.server.reading}
            case "api/steps":
                return answers.steps()
            case "api/rollouts":
                return answers.rollouts(
                    filters_of(words), text=words.get("text", "")[:400], before=whole(words.get("before"))
                )
            case "api/groups":
                return answers.groups(filters_of(words), start=whole(words.get("start")) or 0)
            case "api/group":
                return answers.group(whole(words.get("step")), words.get("task", ""))
            case "api/rollout":
                return answers.rollout(words.get("name", ""))
            case "api/part":
                return answers.part(
                    words.get("name", ""),
                    whole(words.get("turn")) or 0,
                    words.get("what", ""),
                    whole(words.get("start")) or 0,
                )
        raise NotFoundError("no such page")

    def _json(self, status: int, data: Mapping[str, Any]) -> None:
        text = json.dumps(_finite(data), ensure_ascii=False, allow_nan=False)
        self._send(status, text.encode("utf-8", "replace"), "application/json; charset=utf-8")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class names it
        """Prints nothing: an address holds the token."""


def _finite(data: Any) -> Any:
    """The data with null for each number that JSON cannot hold."""
    if isinstance(data, float):
        return data if abs(data) < float("inf") else None
    if isinstance(data, Mapping):
        return {name: _finite(value) for name, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, list | tuple) else data
