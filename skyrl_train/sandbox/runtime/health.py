"""Waits for the first answer of an agent server: GET /health over a connection into its network."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

from skyrl_train.contracts.sandboxd_api import HEALTH

FIRST_WAIT_S, LONGEST_WAIT_S = 0.01, 0.25
_ASK_S = 5.0
_REQUEST = f"GET {HEALTH} HTTP/1.1\r\nHost: sandbox\r\nConnection: close\r\n\r\n".encode()
_STATUS_LINE = 64


async def wait_until_healthy(connect: Callable[[], Awaitable[socket.socket]]) -> None:
    """Has no limit of its own: the caller sets one, and watches for the end of the sandbox."""
    wait = FIRST_WAIT_S
    while not await healthy(connect):
        await asyncio.sleep(wait)
        wait = min(1.3 * wait, LONGEST_WAIT_S)


async def healthy(connect: Callable[[], Awaitable[socket.socket]]) -> bool:
    """Whether the agent server answers now."""
    try:
        async with asyncio.timeout(_ASK_S):
            inner = await connect()
            reader, writer = await asyncio.open_connection(sock=inner)
            try:
                writer.write(_REQUEST)
                line = await reader.read(_STATUS_LINE)
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False
    return line.startswith((b"HTTP/1.1 2", b"HTTP/1.0 2"))
