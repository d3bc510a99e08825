"""The sandboxes' ports. The server itself listens, and forwards each connection into the sandbox's own network.

So no other process can take a port between choosing and binding, no helper process runs for each sandbox, a sandbox
without a network is reachable, and every connection shows that its client is alive. While a sandbox cannot answer, the
port answers with the status that clients expect.
"""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable

from skyrl_train.contracts.errors import TrainError

_BACKLOG = 128
_PAUSED = (503, "the sandbox is paused")
_STARTING = (503, "the sandbox is starting")
_LOST = (502, "the sandbox does not answer")
_REQUEST_S = 10.0
LINGER_S = 10.0
"""Time for the client to close after the sandbox has closed. It is longer while the client reads."""
MOST_CALLERS = 256
"""Most connections of one port, more than an agent server accepts; each takes two descriptors."""


class NotReachableError(TrainError):
    """Why a connection cannot be forwarded: an HTTP status with a message."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status

    @classmethod
    def paused(cls) -> "NotReachableError":
        return cls(*_PAUSED)

    @classmethod
    def starting(cls) -> "NotReachableError":
        return cls(*_STARTING)

    @classmethod
    def lost(cls) -> "NotReachableError":
        return cls(*_LOST)


Dial = Callable[[], Awaitable[socket.socket]]


class Pipe(asyncio.Protocol):
    """Forwards one direction of a connection, no faster than the other end reads."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.peer: Pipe | None = None
        self.ended = False
        self.refused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]  # of a stream, always

    def data_received(self, data: bytes) -> None:
        if self.peer and self.peer.transport:
            self.peer.transport.write(data)

    def eof_received(self) -> bool:
        """Closes one direction; the other may continue."""
        self.ended = True
        if self.peer is None or self.peer.transport is None or self.peer.ended:
            return False
        with contextlib.suppress(OSError):
            self.peer.transport.write_eof()
        return True

    def pause_writing(self) -> None:
        if self.peer and self.peer.transport:
            self.peer.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.peer and self.peer.transport:
            self.peer.transport.resume_reading()

    def connection_lost(self, _error: Exception | None) -> None:
        if self.peer and self.peer.transport:
            self.peer.transport.close()
        self.lost()

    def lost(self) -> None:
        """For the client's end, which counts connections."""


class SandboxEnd(Pipe):
    """The sandbox's end."""

    def eof_received(self) -> bool:
        caller_stays = super().eof_received()
        if caller_stays and isinstance(self.peer, Caller):
            self.peer.answered()
        return caller_stays


class Caller(Pipe):
    """The client's end. It is read only when the sandbox's end is connected; bytes that arrive earlier are kept.

    Before Python 3.11.4 a transport that `connection_made` pauses still reads.
    """

    def __init__(self, port: "Port") -> None:
        super().__init__()
        self._port = port
        self._early = bytearray()
        self._unread = 0
        self._closing: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        if self.peer is not None and self.peer.transport is not None:
            self.peer.transport.write(data)
        elif self.transport is not None and not self.refused:
            self._early += data
            self.transport.pause_reading()

    def joined(self) -> None:
        assert self.transport is not None
        if self._early and self.peer is not None and self.peer.transport is not None:
            self.peer.transport.write(bytes(self._early))
        self._early.clear()
        self.transport.resume_reading()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert self.transport is not None
        self.transport.pause_reading()
        self._port.caller_connected(self)

    def answered(self) -> None:
        """The sandbox has closed. A client that keeps its end open must not hold descriptors."""
        self._closing = asyncio.get_running_loop().call_later(self._port.linger_s, self._close)

    def _close(self) -> None:
        assert self.transport is not None
        unread, self._unread = self._unread, self.transport.get_write_buffer_size()
        if self._unread and self._unread != unread:
            self.answered()
        else:
            self.transport.abort()

    @property
    def is_over(self) -> bool:
        """Whether it got its answer, and has only to close."""
        return self.refused or self._closing is not None

    def lost(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
        self._port.caller_left(self)


class Port:
    """One listening port and the connections through it."""

    def __init__(self, dial: Dial, now: Callable[[], float], *, linger_s: float = LINGER_S) -> None:
        self.linger_s = linger_s
        self._dial = dial
        self._now = now
        self._server: asyncio.Server | None = None
        self._callers: dict[Caller, asyncio.Task[None]] = {}
        self.last_used = now()

    @property
    def busy(self) -> bool:
        return bool(self._callers)

    async def open(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Caller(self), sock=listener, backlog=_BACKLOG)

    def caller_connected(self, caller: Caller) -> None:
        if len(self._callers) >= MOST_CALLERS and not self._make_room():
            assert caller.transport is not None
            caller.transport.abort()
            return
        self.last_used = self._now()
        self._callers[caller] = asyncio.get_running_loop().create_task(self._join(caller))

    def _make_room(self) -> bool:
        """Closes a connection that has its answer."""
        over = next((caller for caller in self._callers if caller.is_over), None)
        if over is None or over.transport is None:
            return False
        over.transport.abort()
        self.caller_left(over)
        return True

    def caller_left(self, caller: Caller) -> None:
        self.last_used = self._now()
        task = self._callers.pop(caller, None)
        if task is not None:
            task.cancel()

    async def _join(self, caller: Caller) -> None:
        assert caller.transport is not None
        inner: socket.socket | None = None
        try:
            inner = await self._dial()
            pipe = SandboxEnd()
            caller.peer, pipe.peer = pipe, caller
            await asyncio.get_running_loop().create_connection(lambda: pipe, sock=inner)
            caller.joined()
        except NotReachableError as error:
            await _refuse(caller, error)
        except OSError:
            await _refuse(caller, NotReachableError.lost())
        except asyncio.CancelledError:
            if inner is not None and inner.fileno() >= 0 and (caller.peer is None or caller.peer.transport is None):
                inner.close()
            raise

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for caller in tuple(self._callers):
            if caller.transport is not None:
                caller.transport.abort()


async def _refuse(caller: Caller, error: NotReachableError) -> None:
    """Answers at once and waits before closing: closing with unread bytes would lose the answer."""
    assert caller.transport is not None
    caller.refused = True
    body = f'{{"detail": "{error}"}}'
    caller.transport.write(
        f"HTTP/1.1 {error.status} {'Unavailable' if error.status == 503 else 'Bad Gateway'}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nRetry-After: 2\r\n"
        f"Connection: close\r\n\r\n{body}".encode()
    )
    caller.transport.write_eof()
    caller.transport.resume_reading()
    await asyncio.sleep(_REQUEST_S)
    caller.transport.abort()


def listen(host: str, port: int = 0) -> socket.socket:
    """Returns a bound socket; port 0 takes a free one. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.settimeout(0)
    except OSError:
        listener.close()
        raise
    return listener
