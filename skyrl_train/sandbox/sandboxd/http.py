"""HTTP/1.1 on one connection: reads requests within limits, and their bodies as a stream.

The standard library's server would load the mail parser and about fifty modules: twice the start-up time and memory.
"""

from __future__ import annotations

import socket
import time

MAX_HEAD = 64 * 1024
CHUNK = 256 * 1024
_MAX_DRAIN = 1024 * 1024
_HEX = b"0123456789abcdefABCDEF"


class HttpError(Exception):
    """Ends a request with this status and `detail`."""

    def __init__(self, status: int, detail: object, **headers: str) -> None:
        super().__init__(str(detail))
        self.status = status
        self.detail = detail
        self.headers = headers


class DisconnectedError(Exception):
    """The client is gone or too slow: there is nobody to answer."""


class Stream:
    """Reads bytes from a connection, until the deadline (of time.monotonic) if there is one."""

    def __init__(self, connection: socket.socket, deadline: float | None = None) -> None:
        self._connection = connection
        self._buffer = b""
        self.deadline = deadline

    def read(self, size: int) -> bytes:
        """Reads at least one byte and at most `size`."""
        data = self._buffer[:size] if self._buffer else self._receive(size)
        self._buffer = self._buffer[size:]
        return data

    def head(self) -> bytes | None:
        """Reads up to the empty line; None if the connection ends before a request begins."""
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if 0 <= end <= MAX_HEAD:
                head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
                return head.lstrip(b"\r\n")
            if len(self._buffer) > MAX_HEAD:
                raise HttpError(431, f"The request's headers are longer than {int(MAX_HEAD)} bytes")
            if not self._fill():
                return None

    def line(self) -> bytes:
        while b"\r\n" not in self._buffer:
            if len(self._buffer) > 256 or not self._fill():
                raise HttpError(400, "Expected the length of a chunk")
        line, self._buffer = self._buffer.split(b"\r\n", 1)
        return line

    def _fill(self) -> bool:
        try:
            self._buffer += self._receive(CHUNK)
        except DisconnectedError:
            if self._buffer:
                raise
            return False
        return True

    def _receive(self, size: int) -> bytes:
        try:
            if self.deadline is not None:
                self._connection.settimeout(max(0.001, self.deadline - time.monotonic()))
            data = self._connection.recv(min(size, CHUNK))
        except OSError as error:
            raise DisconnectedError from error
        if not data:
            raise DisconnectedError
        return data


class Body:
    """A request's body, of known length or in chunks. It can be read once."""

    def __init__(self, stream: Stream, length: int | None, *, before: bytes = b"", connection: socket.socket) -> None:
        self._stream = stream
        self._left = length
        self._chunk = 0
        self._before = before
        self._connection = connection
        self.length = length

    def read(self, size: int = CHUNK) -> bytes:
        """Reads at most `size` bytes; empty at the end."""
        if self._before:  # the client waits until it is told to go on
            self._connection.sendall(self._before)
            self._before = b""
        if self._left is None:
            return self._read_chunk(size)
        data = self._stream.read(min(size, self._left)) if self._left else b""
        self._left -= len(data)
        return data

    def all(self, limit: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            data = self.read()
            size += len(data)
            if size > limit:
                raise HttpError(413, f"The body is longer than {int(limit)} bytes")
            if not data:
                return b"".join(parts)
            parts.append(data)

    def drain(self) -> bool:
        """Reads the rest of the body; returns whether the connection can be used again."""
        if self._before or (self.length or 0) > _MAX_DRAIN:
            return self._left == 0
        try:
            self.all(_MAX_DRAIN)
        except HttpError:
            return False
        return True

    def _read_chunk(self, size: int) -> bytes:
        if self._chunk < 0:
            return b""
        if self._chunk == 0:
            self._chunk = _chunk_length(self._stream.line())
        if self._chunk == 0:
            while self._stream.line():  # trailers
                pass
            self._chunk = -1
            return b""
        data = self._stream.read(min(size, self._chunk))
        self._chunk -= len(data)
        if self._chunk == 0 and self._stream.line():
            raise HttpError(400, "A chunk is longer than its stated length")
        return data


class Request:
    """One request. `query` holds the last value of each name, decoded."""

    __slots__ = ("body", "headers", "keep_alive", "method", "path", "query")

    def __init__(self, method: str, path: str, query: dict[str, str], headers: dict[str, str], body: Body) -> None:
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.keep_alive = "close" not in headers.get("connection", "").lower()


def read_request(stream: Stream, connection: socket.socket) -> Request | None:
    head = stream.head()
    if head is None:
        return None
    first, _, rest = head.decode("latin-1").partition("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[1].startswith("/"):
        raise HttpError(400, "Not an HTTP request")
    if words[2] not in ("HTTP/1.1", "HTTP/1.0"):
        raise HttpError(505, "Expected HTTP/1.1")
    headers = _headers(rest)
    if words[2] == "HTTP/1.0":
        headers.setdefault("connection", "close")
    target, _, query = words[1].partition("?")
    return Request(words[0], decode(target), parse_query(query), headers, _body(headers, stream, connection))


def decode(text: str, *, plus: bool = False) -> str:
    """Decodes percent-encoded UTF-8. Other bytes stay as they are, since file names may be any bytes."""
    raw = (text.replace("+", " ") if plus else text).encode("latin-1")
    first, *rest = raw.split(b"%")
    parts = [first]
    for part in rest:
        is_code = len(part) > 1 and not part[:2].strip(_HEX)
        parts += [bytes([int(part[:2], 16)]), part[2:]] if is_code else [b"%", part]
    return b"".join(parts).decode("utf-8", "surrogateescape")


def parse_query(query: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in query.split("&") if pair)
    return {decode(name, plus=True): decode(value, plus=True) for name, _, value in pairs}


def _headers(text: str) -> dict[str, str]:
    """Reads headers with names in lower case. Two different lengths of a body would let one request hide in another."""
    headers: dict[str, str] = {}
    for line in text.split("\r\n") if text else ():
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or not name or name != name.strip() or "\0" in line or "\n" in line:
            raise HttpError(400, "Malformed header")
        if name in headers and name in ("content-length", "transfer-encoding", "host"):
            raise HttpError(400, f"The header {name} appears twice")
        headers[name] = value.strip()
    return headers


def _body(headers: dict[str, str], stream: Stream, connection: socket.socket) -> Body:
    coding, length = headers.get("transfer-encoding"), headers.get("content-length")
    before = b"HTTP/1.1 100 Continue\r\n\r\n" if headers.get("expect", "").lower() == "100-continue" else b""
    if coding is not None:
        if length is not None or coding.lower() != "chunked":
            raise HttpError(400, "transfer-encoding must be chunked, without content-length")
        return Body(stream, None, before=before, connection=connection)
    if length is not None and not (length.isascii() and length.isdigit() and len(length) < 19):
        raise HttpError(400, "content-length is not a number")
    return Body(stream, int(length or 0), before=before, connection=connection)


def _chunk_length(line: bytes) -> int:
    text = line.split(b";")[0].strip()
    if not text or len(text) > 15 or text.strip(_HEX):
        raise HttpError(400, "Malformed length of a chunk")
    return int(text, 16)
