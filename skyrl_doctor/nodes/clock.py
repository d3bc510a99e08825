"""Compares clocks over TCP as NTP does: the best of a few exchanges, with its possible error.

A node that cannot connect could not join a Ray cluster either, so the connection is a test of its own.
"""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.nodes.node_report import Clock

EXCHANGES = 5
CONNECT_S = 5.0
_TIME = struct.Struct("!d")
_ASK = b"?"


@contextmanager
def serve_time(ports: Sequence[int] = ()) -> Iterator[int]:
    """Serves the time on the first free port of `ports`, else on any free port. Yields the port."""
    with _server(ports) as server:
        threading.Thread(target=_serve, args=(server,), name="clock", daemon=True).start()
        try:
            yield int(server.getsockname()[1])
        finally:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)


def _server(ports: Sequence[int]) -> socket.socket:
    both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    for port in ports:
        with contextlib.suppress(OSError):
            return socket.create_server(("", port), family=family, dualstack_ipv6=both, backlog=128)
    return socket.create_server(("", 0), family=family, dualstack_ipv6=both, backlog=128)


def measure_clock(host: str, port: int, now: Callable[[], float] = time.time) -> Clock:
    """The offset of our clock from the one at host:port. Raises CouldNotLook."""
    try:
        with socket.create_connection((host, port), timeout=CONNECT_S) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return min((_exchange(connection, now) for _ in range(EXCHANGES)), key=lambda clock: clock.error_s)
    except OSError as error:
        raise CouldNotLook(f"{host}:{port}: {error.strerror or error}") from None


def _exchange(connection: socket.socket, now: Callable[[], float]) -> Clock:
    sent = now()
    connection.sendall(_ASK)
    reply = b""
    while len(reply) < _TIME.size:
        part = connection.recv(_TIME.size - len(reply))
        if not part:
            raise ConnectionResetError(None, "connection closed before the time arrived")
        reply += part
    received = now()
    return Clock((sent + received) / 2 - _TIME.unpack(reply)[0], max(0.0, received - sent) / 2)


def _serve(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_send_time, args=(connection,), name="clock-answer", daemon=True).start()


def _send_time(connection: socket.socket) -> None:
    with connection, contextlib.suppress(OSError):
        connection.settimeout(CONNECT_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while connection.recv(1) == _ASK:
            connection.sendall(_TIME.pack(time.time()))
