"""The sandboxes' ports. The server itself listens, and hands each connection into the sandbox's own network.

So a port is never lost to somebody else between choosing and binding, no helper process runs for each sandbox, a
sandbox without any network can be reached, and every connection says that its client is still there. While a sandbox
cannot answer, the port does, with the status that clients take for it.
"""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable

from skyrl_train.contracts.errors import TrainError

_BACKLOG = 128
_PAUSED = (503, "the sandbox is paused")
_STARTING = (503, "the sandbox is starting")
_LOST = (502, "nothing answers in the sandbox")
_REQUEST_S = 10.0


class NotReachableError(TrainError):
    """Why a connection cannot be handed on: an HTTP status with a sentence."""

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
    """One direction's receiver: what comes in goes out at the other end, no faster than that end takes it."""

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
        """One direction is over; the other may go on."""
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
        """For the outer end, which counts."""


class Caller(Pipe):
    """The client's end. It is not read before the sandbox's end stands; what comes all the same is kept.

    Before Python 3.11.4 a transport that `connection_made` pauses reads on.
    """

    def __init__(self, port: "Port") -> None:
        super().__init__()
        self._port = port
        self._early = bytearray()

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
        self._port.entered(self)

    def lost(self) -> None:
        self._port.left(self)


class Port:
    """One listening port and the connections through it."""

    def __init__(self, dial: Dial, now: Callable[[], float]) -> None:
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

    def entered(self, caller: Caller) -> None:
        self.last_used = self._now()
        self._callers[caller] = asyncio.get_running_loop().create_task(self._join(caller))

    def left(self, caller: Caller) -> None:
        self.last_used = self._now()
        task = self._callers.pop(caller, None)
        if task is not None:
            task.cancel()

    async def _join(self, caller: Caller) -> None:
        assert caller.transport is not None
        inner: socket.socket | None = None
        try:
            inner = await self._dial()
            pipe = Pipe()
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
    """An answer at once, and a moment to read it: closing over unread bytes would take the answer back."""
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
    """A bound socket; port 0 takes a free one. OSError where it cannot be."""
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
