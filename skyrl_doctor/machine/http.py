"""One HTTP GET with a hard end: no proxy, no redirect, no more bytes and no more seconds than were asked for."""

import contextlib
import http.client
import os
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from skyrl_doctor.machine.http_query import Fetched, Get

_KEY_BYTES = 4096
_CHUNK = 1 << 16


class _NoAnswerError(Exception):
    """Why there is none, in words."""


def fetch(query: Get, environ: Mapping[str, str]) -> Fetched:
    """What the server says. The key goes out in the header and nowhere else: no text of an error holds it."""
    end = time.monotonic() + query.limit_s
    try:
        headers = {query.key_header: _key(query.key_from, environ)} if query.key_header else {}
        connection, path = _connection(query)
    except _NoAnswerError as error:
        return Fetched(url=query.url, why=str(error))
    try:
        return _exchange(connection, path, headers, query, end)
    except _NoAnswerError as error:
        return Fetched(url=query.url, why=str(error))
    except TimeoutError:
        return Fetched(url=query.url, why=f"no answer within {query.limit_s:g} s")
    except ssl.SSLError as error:
        return Fetched(url=query.url, why=f"no TLS connection: {error.reason or type(error).__name__}")
    except OSError as error:
        return Fetched(url=query.url, why=error.strerror or type(error).__name__)
    except (http.client.HTTPException, ValueError) as error:
        return Fetched(url=query.url, why=f"what answers there does not speak HTTP ({type(error).__name__})")
    finally:
        connection.close()


def _connection(query: Get) -> tuple[http.client.HTTPConnection, str]:
    try:
        parts = urlsplit(query.url)
        port = parts.port
    except ValueError as error:
        raise _NoAnswerError(f"is no URL: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _NoAnswerError("is no URL: wanted http://HOST:PORT")
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return kind(parts.hostname, port, timeout=query.limit_s), path


def _exchange(
    connection: http.client.HTTPConnection, path: str, headers: Mapping[str, str], query: Get, end: float
) -> Fetched:
    connection.connect()
    # A time-out of the socket counts anew for each byte; this ends the exchange even if the server drips.
    guard = threading.Timer(max(0.0, end - time.monotonic()), _hang_up, (connection.sock,))
    guard.daemon = True
    guard.start()
    try:
        connection.request("GET", path, headers={**headers, "Connection": "close"})
        with connection.getresponse() as response:
            body = _body(response, query.limit_bytes, end)
            return Fetched(
                url=query.url,
                status=response.status,
                headers=tuple(sorted({name.lower() for name, _ in response.getheaders()})),
                body=body[: query.limit_bytes].decode("utf-8", "replace"),
                truncated=len(body) > query.limit_bytes,
            )
    except (OSError, http.client.HTTPException):
        if time.monotonic() >= end:
            raise TimeoutError from None
        raise
    finally:
        guard.cancel()


def _body(response: http.client.HTTPResponse, limit_bytes: int, end: float) -> bytes:
    body = b""
    while len(body) <= limit_bytes and (chunk := response.read1(_CHUNK)):
        body += chunk
    if time.monotonic() >= end:
        raise TimeoutError
    return body


def _hang_up(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _key(source: str, environ: Mapping[str, str]) -> str:
    kind, _, name = source.partition(" ")
    if kind == "text":
        return name
    text = environ.get(name, "") if kind == "env" else _first_bytes(name)
    key = text.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise _NoAnswerError(f"{name} holds no key; wanted one line of printable characters")
    return key


def _first_bytes(path: str) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        with open(descriptor, "rb", buffering=0) as file:
            return (file.read(_KEY_BYTES) or b"").decode("ascii", "replace")
    except OSError as error:
        raise _NoAnswerError(f"the key file {path} cannot be read: {error.strerror}") from None
