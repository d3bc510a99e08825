"""The memory that the kernel holds for the sockets of this network: what is sent and not yet read. It belongs to no process."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator

_SOCK_DIAG, _BY_FAMILY, _DUMP, _DONE, _ERROR = 4, 20, 0x301, 3, 2
_UNIX, _INET, _INET6 = 1, 2, 10
_TCP, _UDP = 6, 17
_EVERY_STATE = 0xFFFFFFFF
_HEADER, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=HH")
_FIGURES = struct.Struct("=6I")
_RECEIVED, _SENT, _QUEUED = 0, 2, 5
"""Positions in the kernel's list of figures (SK_MEMINFO). TCP counts what waits to be sent as queued."""
_SHOW_UNIX, _UNIX_HEAD, _UNIX_FIGURES = 0x20, 16, 5
_SHOW_INET, _INET_HEAD, _INET_FIGURES = 1 << 6, 72, 7
_BUFFER = 1 << 18
_LIMIT_S = 0.5


def socket_kib() -> int:
    """0 where the kernel does not tell."""
    total = _sum(struct.pack("=BBHIIIII", _UNIX, 0, 0, _EVERY_STATE, 0, _SHOW_UNIX, 0, 0), _UNIX_HEAD, _UNIX_FIGURES)
    for family in (_INET, _INET6):
        for protocol in (_TCP, _UDP):
            question = struct.pack("=BBBBI48x", family, protocol, _SHOW_INET, 0, _EVERY_STATE)
            total += _sum(question, _INET_HEAD, _INET_FIGURES)
    return total // 1024


def _sum(question: bytes, head: int, figures: int) -> int:
    total = 0
    with contextlib.suppress(OSError), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as asked:
        asked.settimeout(_LIMIT_S)
        asked.send(_HEADER.pack(_HEADER.size + len(question), _BY_FAMILY, _DUMP, 0, 0) + question)
        for body in _answers(asked):
            total += _held(body[head:], figures)
    return total


def _answers(asked: socket.socket) -> Iterator[bytes]:
    while True:
        for kind, body in _parts(asked.recv(_BUFFER), 0, _HEADER):
            if kind in (_DONE, _ERROR):
                return
            yield body


def _held(attributes: bytes, figures: int) -> int:
    for kind, body in _parts(attributes, 0, _ATTRIBUTE):
        if kind == figures and len(body) >= _FIGURES.size:
            numbers = _FIGURES.unpack_from(body)
            return int(numbers[_RECEIVED]) + max(int(numbers[_SENT]), int(numbers[_QUEUED]))
    return 0


def _parts(data: bytes, start: int, head: struct.Struct) -> Iterator[tuple[int, bytes]]:
    """Messages and attributes alike begin with their length and kind, and are padded to four bytes."""
    while start + head.size <= len(data):
        length, kind = head.unpack_from(data, start)[:2]
        if length < head.size:
            return
        yield kind, data[start + head.size : start + length]
        start += (length + 3) & ~3
