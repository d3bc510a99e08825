"""The client of `namespaces`: connects into containers without a published port, and stops processes without a cgroup."""

import array
import asyncio
import errno
import itertools
import json
import os
import shutil
import socket
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any

from skyrl_train.process_async import end_async, start_async
from skyrl_train.sandbox.engine import EngineUnsureError, Share

_ANSWER_S = 10.0
_CONNECT_S = 5.0
_LOOPBACK = "127.0.0.1"
_PACKET = 65536
_AT_ONCE = 200
"""Containers in one request: a packet has a limit."""
_GONE = (errno.ENOENT, errno.ESRCH)


def usable_python() -> str:
    """Our own Python, or the node's if this user may not run ours."""
    return sys.executable if os.access(sys.executable, os.R_OK | os.X_OK) else shutil.which("python3") or "python3"


class NamespaceClient:
    """Starts the child on first use, and again after it ended."""

    def __init__(self) -> None:
        self._channel: socket.socket | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[tuple[dict[str, Any], socket.socket | None]]] = {}
        self._starting = asyncio.Lock()

    async def connect(self, pid: int, port: int) -> socket.socket:
        """Connects to a port in the container's network. Raises OSError if nothing listens there."""
        _, made = await self._ask("connect", pid)
        assert made is not None
        made.setblocking(False)  # noqa: FBT003 -- as the standard library has it
        try:
            async with asyncio.timeout(_CONNECT_S):
                await asyncio.get_running_loop().sock_connect(made, (_LOOPBACK, port))
        except BaseException:
            made.close()
            raise
        return made

    async def stop(self, pid: int) -> None:
        await self._ask("stop", pid)

    async def go_on(self, pid: int) -> None:
        await self._ask("continue", pid)

    async def enforce(self, pids: Sequence[int], share: Share) -> dict[int, str]:
        """What was done where a container exceeds its share, by its first process."""
        done: dict[int, str] = {}
        for first in range(0, len(pids), _AT_ONCE):
            reply, _ = await self._ask("enforce", pids=pids[first : first + _AT_ONCE], **asdict(share))
            done |= {int(pid): text for pid, text in reply["done"].items()}
        return done

    async def _ask(self, do: str, pid: int = 0, **more: object) -> tuple[dict[str, Any], socket.socket | None]:
        channel = await self._open()
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(_ANSWER_S):
                await asyncio.get_running_loop().sock_sendall(
                    channel, json.dumps({"number": number, "do": do, "pid": pid, **more}).encode()
                )
                reply, made = await future
        except (OSError, TimeoutError) as error:
            await self.close()
            raise EngineUnsureError(f"the namespace helper does not answer: {str(error) or 'timed out'}") from error
        finally:
            self._waiting.pop(number, None)
        if reply.get("errno") in _GONE:
            raise ConnectionRefusedError(reply["errno"], f"the process is gone: {reply['error']}")
        if "error" in reply:
            # A namespace that it cannot enter from the one it is in: a new child can.
            await self.close()
            raise EngineUnsureError(f"cannot enter the sandbox's namespace: {reply['error']}")
        return reply, made

    async def _open(self) -> socket.socket:
        async with self._starting:
            if self._channel is not None:
                return self._channel
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.setblocking(False)  # noqa: FBT003 -- as above
            program = resources.files("skyrl_train.sandbox.runtime.podman").joinpath("namespaces.py").read_text("utf-8")
            with theirs:
                try:
                    argv = (usable_python(), "-I", "-S", "-c", program)
                    self._process = await start_async(argv, stdin=theirs.fileno(), cwd="/")
                except OSError as error:
                    ours.close()
                    raise EngineUnsureError(f"the namespace helper cannot be started: {error}") from error
            self._channel = ours
            asyncio.get_running_loop().add_reader(ours, self._receive, ours)
            return ours

    def _receive(self, channel: socket.socket) -> None:
        descriptors = array.array("i")
        try:
            packet, passed, _, _ = channel.recvmsg(_PACKET, socket.CMSG_SPACE(descriptors.itemsize))
        except BlockingIOError:
            return
        except OSError:
            packet, passed = b"", []
        for _, _, data in passed:
            descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
        made = socket.socket(fileno=descriptors[0]) if descriptors else None
        if not packet:
            self._lost(channel)
            return
        reply = json.loads(packet)
        future = self._waiting.get(reply["number"])
        if future is not None and not future.done():
            future.set_result((reply, made))
        elif made is not None:
            made.close()

    def _lost(self, channel: socket.socket) -> None:
        asyncio.get_running_loop().remove_reader(channel)
        channel.close()
        if self._channel is channel:
            self._channel = None
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionResetError("the namespace helper ended"))

    async def close(self) -> None:
        process, self._process = self._process, None
        if self._channel is not None:
            self._lost(self._channel)
        if process is not None:
            await end_async(process, grace_s=0.0)
