"""One clock asked over TCP by all nodes, as NTP does it: the best of a few exchanges, with its possible error.

A node that cannot ask is one that could not join a Ray cluster either, so the answer is worth the connection alone.
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
def telling(ports: Sequence[int] = ()) -> Iterator[int]:
    """Tells the time to whoever asks, on the first of these ports that is free, else on one of the kernel's: the port."""
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


def ask(host: str, port: int, now: Callable[[], float] = time.time) -> Clock:
    """How far our clock is ahead of the one there. Raises CouldNotLook."""
    try:
        with socket.create_connection((host, port), timeout=CONNECT_S) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return min((_exchange(connection, now) for _ in range(EXCHANGES)), key=lambda clock: clock.error_s)
    except OSError as error:
        raise CouldNotLook(f"{host}:{port}: {error.strerror or error}") from None


def _exchange(connection: socket.socket, now: Callable[[], float]) -> Clock:
    asked = now()
    connection.sendall(_ASK)
    told = b""
    while len(told) < _TIME.size:
        part = connection.recv(_TIME.size - len(told))
        if not part:
            raise ConnectionResetError(None, "closed before it told the time")
        told += part
    answered = now()
    return Clock((asked + answered) / 2 - _TIME.unpack(told)[0], max(0.0, answered - asked) / 2)


def _serve(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_tell, args=(connection,), name="clock-answer", daemon=True).start()


def _tell(connection: socket.socket) -> None:
    with connection, contextlib.suppress(OSError):
        connection.settimeout(CONNECT_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while connection.recv(1) == _ASK:
            connection.sendall(_TIME.pack(time.time()))
