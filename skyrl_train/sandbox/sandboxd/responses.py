"""Answers to requests: JSON at once, files from the disk to the network."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Iterator

_REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    413: "Content Too Large",
    422: "Unprocessable Entity",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
    505: "HTTP Version Not Supported",
    507: "Insufficient Storage",
}


_SLICE = 256 * 1024


def send_json(connection: socket.socket, status: int, value: object, *, close: bool = False, **headers: str) -> None:
    pieces = list(_pieces(value))
    length = sum(map(len, pieces))
    head = _head(status, length, {"content-type": "application/json", **headers}, close=close)
    for piece in [b"".join([head, *pieces])] if length <= _SLICE else [head, *pieces]:  # in one packet, if it can be
        connection.sendall(piece)


def send_file(connection: socket.socket, file: int, headers: dict[str, str], *, close: bool) -> bool:
    """From the disk to the network without passing through here. Whether all that was promised was there."""
    size = os.fstat(file).st_size
    with open(file, "rb", buffering=0, closefd=False) as reader:
        if size == 0 and stat.S_ISREG(os.fstat(file).st_mode):  # as every file of /proc says
            body = reader.readall() or b""
            connection.sendall(_head(200, len(body), headers, close=close) + body)
            return True
        connection.sendall(_head(200, size, headers, close=close))
        return connection.sendfile(reader, count=size) == size


def _pieces(value: object) -> Iterator[bytes]:
    """JSON. A long text goes through in slices: whole it would be there three times over, in six bytes a letter."""
    if isinstance(value, dict):
        for number, (key, item) in enumerate(value.items()):
            yield (b"," if number else b"{") + _dumps(key) + b":"
            yield from _pieces(item)
        yield b"}" if value else b"{}"
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield b"," if number else b"["
            yield from _pieces(item)
        yield b"]" if value else b"[]"
    elif isinstance(value, str) and len(value) > _SLICE:
        yield b'"'
        yield from (_dumps(value[at : at + _SLICE])[1:-1] for at in range(0, len(value), _SLICE))
        yield b'"'
    else:
        yield _dumps(value)


def _dumps(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _head(status: int, length: int, headers: dict[str, str], *, close: bool) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Unknown')}", f"content-length: {length}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += ["connection: close", "", ""] if close else ["", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")
