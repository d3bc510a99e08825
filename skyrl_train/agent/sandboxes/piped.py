"""A sandbox behind a pipe: requests go to the tools' standard input, answers come from their standard output."""

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import IO

from skyrl_train.agent.inside.serve import READY
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.transcript import Result
from skyrl_train.contracts.errors import TrainError
from skyrl_train.process import KEEP
from skyrl_train.process_async import end_async, start_async

MAX_LINE = 128 * 1024 * 1024
"""The longest answer: twice what the tools keep of an output, written as JSON."""
CLOSE_S = 5.0
_SAID_BYTES = 2000


class SandboxLostError(TrainError):
    """The tools in a sandbox do not answer any more."""


class PipedSandbox:
    """Actions one after the other. An answer that was given up makes the pipe useless: the sandbox is lost then."""

    def __init__(self, process: asyncio.subprocess.Process, said: IO[bytes]) -> None:
        self._process = process
        self._said = said

    async def run(self, action: Action, *, limit_s: float) -> Result:
        request = {"tool": action.tool, "arguments": action.arguments, "limit_s": limit_s}
        match await self._asked(json.dumps(request).encode() + b"\n"):
            case {"text": str(text), "exit_code": int() | None as code, "timed_out": bool(late)}:
                return Result(text=text, exit_code=code, timed_out=late)
            case other:
                raise SandboxLostError(f"the sandbox's tools answered {str(other)[:200]}, which is no result")

    async def ready(self) -> None:
        """Waits for the tools to begin."""
        if (answer := await self._asked(b"")) != READY:
            raise SandboxLostError(f"the sandbox's tools began with {str(answer)[:200]}, wanted {READY}")

    async def _asked(self, request: bytes) -> object:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(ConnectionError):  # it may have said something before it went
            self._process.stdin.write(request)
            await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        try:
            answer: object = json.loads(line)
        except ValueError as error:
            with contextlib.suppress(TimeoutError):  # what it said last is complete when it has ended
                await asyncio.wait_for(self._process.wait(), 1.0)
            raise SandboxLostError(f"the sandbox's tools ended: {self._last_words() or 'they said nothing'}") from error
        return answer

    def _last_words(self) -> str:
        self._said.seek(0, os.SEEK_END)
        self._said.seek(max(self._said.tell() - _SAID_BYTES, 0))
        return " ".join(self._said.read().decode(errors="replace").split())


@asynccontextmanager
async def piped(argv: Sequence[str], *, environ: Mapping[str, str], directory: str) -> AsyncIterator[PipedSandbox]:
    """Starts the tools, and ends them with their whole group on every way out."""
    with tempfile.TemporaryFile() as said:
        process = await start_async(
            argv, stdin=KEEP, stdout=KEEP, stderr=said, env=environ, cwd=directory, line_bytes=MAX_LINE
        )
        try:
            sandbox = PipedSandbox(process, said)
            await sandbox.ready()
            yield sandbox
        finally:
            await end_async(process, finish_s=CLOSE_S, grace_s=CLOSE_S)
