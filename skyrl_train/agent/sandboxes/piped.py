"""A sandbox behind a pipe: requests go to the standard input of the tools, answers come from their standard output."""

import asyncio
import contextlib
import json
import os
import tempfile
from base64 import b64encode
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
"""The longest answer: twice the output that the tools keep, as JSON."""
CLOSE_S = 5.0
_ERROR_BYTES = 2000


class SandboxLostError(TrainError):
    """The tools in a sandbox no longer answer."""


class PipedSandbox:
    """Runs actions one at a time. If a caller gives up on an answer, the pipe is unusable and the sandbox lost."""

    def __init__(self, process: asyncio.subprocess.Process, errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors

    async def run(self, action: Action, *, limit_s: float) -> Result:
        request = {"tool": action.tool, "arguments": action.arguments, "limit_s": limit_s}
        match await self._request(json.dumps(request).encode() + b"\n"):
            case {"text": str(text), "exit_code": int() | None as code, "timed_out": bool(late)}:
                return Result(text=text, exit_code=code, timed_out=late)
            case other:
                raise SandboxLostError(f"unexpected answer of the sandbox's tools: {str(other)[:200]}")

    async def program(self, bundle: bytes, request: bytes, *, limit_s: float) -> str:
        given = {"bundle": b64encode(bundle).decode(), "request": b64encode(request).decode()}
        result = await self.run(Action("program", {**given}), limit_s=limit_s)
        if result.exit_code != 0:
            raise SandboxLostError(f"a program of ours ended with {result.exit_code}: {result.text.strip()[-500:]}")
        return result.text

    async def ready(self) -> None:
        """Waits until the tools are ready."""
        if (answer := await self._request(b"")) != READY:
            raise SandboxLostError(f"the sandbox's tools started with {str(answer)[:200]}; expected {READY}")

    async def _request(self, request: bytes) -> object:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(ConnectionError):  # it may have written an error before it ended
            self._process.stdin.write(request)
            await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        try:
            answer: object = json.loads(line)
        except ValueError as error:
            with contextlib.suppress(TimeoutError):  # its output is complete when it has ended
                await asyncio.wait_for(self._process.wait(), 1.0)
            raise SandboxLostError(f"the sandbox's tools ended: {self._last_errors() or 'no output'}") from error
        return answer

    def _last_errors(self) -> str:
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(self._errors.tell() - _ERROR_BYTES, 0))
        return " ".join(self._errors.read().decode(errors="replace").split())


@asynccontextmanager
async def piped(argv: Sequence[str], *, environ: Mapping[str, str], directory: str) -> AsyncIterator[PipedSandbox]:
    """Starts the tools, and always ends them: first by closing their input, then by signals to the group."""
    with tempfile.TemporaryFile() as errors:
        process = await start_async(
            argv, stdin=KEEP, stdout=KEEP, stderr=errors, env=environ, cwd=directory, line_bytes=MAX_LINE
        )
        try:
            sandbox = PipedSandbox(process, errors)
            await sandbox.ready()
            yield sandbox
        finally:
            await end_async(process, finish_s=CLOSE_S, grace_s=CLOSE_S)
