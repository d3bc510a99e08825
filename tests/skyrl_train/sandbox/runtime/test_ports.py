"""The server's own ports: bytes both ways, in order and whole, whatever comes when."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

from fakes.runtime import asynchronous
from skyrl_train.sandbox.runtime.ports import MOST_CALLERS, Dial, NotReachableError, Port, listen


@contextlib.asynccontextmanager
async def echoing(before: asyncio.Event | None = None) -> AsyncIterator[tuple[Port, tuple[str, int]]]:
    """A port to a server that says what it hears, and ends when its client does."""
    heard: set[asyncio.Task[None]] = set()

    async def echo(theirs: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with theirs:
            while data := await loop.sock_recv(theirs, 65536):
                await loop.sock_sendall(theirs, data)

    async def dial() -> socket.socket:
        if before is not None:
            await before.wait()
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setblocking(False)
        heard.add(asyncio.get_running_loop().create_task(echo(theirs)))
        return ours

    async with opened(dial) as found:
        yield found
    await asyncio.gather(*heard)


@contextlib.asynccontextmanager
async def opened(dial: Dial) -> AsyncIterator[tuple[Port, tuple[str, int]]]:
    port, listener = Port(dial, lambda: 0.0), listen("127.0.0.1")
    await port.open(listener)
    yield port, listener.getsockname()[:2]
    await port.close()


@asynchronous
async def test_megabytes_come_back_as_they_went() -> None:
    sent = bytes(range(256)) * 16384
    async with echoing() as (_port, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(sent)
        assert await reader.readexactly(len(sent)) == sent
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()


@asynchronous
async def test_what_is_said_before_the_sandbox_is_reached_is_kept() -> None:
    """Some versions of Python read from a transport that was paused as soon as it was made."""
    reached = asyncio.Event()
    async with echoing(reached) as (port, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"early ")
        while not port.busy:
            await asyncio.sleep(0)
        (caller,) = port._callers
        assert caller.transport is not None
        caller.transport.resume_reading()
        while not caller._early:
            await asyncio.sleep(0)
        writer.write(b"and late")
        reached.set()
        assert await reader.readexactly(14) == b"early and late"
        writer.close()
        await writer.wait_closed()


@asynchronous
async def test_who_cannot_be_let_in_is_told_why() -> None:
    async def dial() -> socket.socket:
        raise NotReachableError.starting()

    async with opened(dial) as (_port, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        said = await reader.read()
        assert said.startswith(b"HTTP/1.1 503 ")
        assert said.endswith(b'{"detail": "the sandbox is starting"}')
        writer.close()
        await writer.wait_closed()


@asynchronous
async def test_a_client_that_stays_after_the_sandbox_has_closed_is_closed() -> None:
    """Else one that never closes holds two descriptors of the server for ever."""

    async def dial() -> socket.socket:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            theirs.sendall(b"the answer")
        return ours

    port, listener = Port(dial, lambda: 0.0, linger_s=0.0), listen("127.0.0.1")
    await port.open(listener)
    reader, writer = await asyncio.open_connection(*listener.getsockname())
    assert await reader.read() == b"the answer"
    while port.busy:
        await asyncio.sleep(0)
    writer.close()
    await port.close()


@asynchronous
async def test_connections_that_have_their_answer_make_room_for_others() -> None:
    async def dial() -> socket.socket:
        raise NotReachableError.paused()

    async with opened(dial) as (port, address):
        clients = [await asyncio.open_connection(*address) for _ in range(MOST_CALLERS + 20)]
        for reader, _ in clients[-20:]:
            assert (await reader.readline()).startswith(b"HTTP/1.1 503")
        assert len(port._callers) <= MOST_CALLERS
        for _, writer in clients:
            writer.close()
