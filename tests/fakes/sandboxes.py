"""Sandboxes that answer from memory, and those that fail in the ways that real ones do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.ports import Task
from skyrl_train.contracts.agent.transcript import Result


class EchoSandbox:
    """Answers with a number and the action; the working copy is a list of what was run."""

    def __init__(self) -> None:
        self.ran: list[tuple[Action, float]] = []
        self.closed = False

    async def run(self, action: Action, *, limit_s: float) -> Result:
        self.ran.append((action, limit_s))
        return Result(text=f"{len(self.ran)}: {action.arguments.get('command')}")

    @asynccontextmanager
    async def opened(self, _task: Task) -> AsyncIterator["EchoSandbox"]:
        try:
            yield self
        finally:
            self.closed = True


class SameSandbox(EchoSandbox):
    """Always gives one answer."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    async def run(self, action: Action, *, limit_s: float) -> Result:
        await super().run(action, limit_s=limit_s)
        return Result(text=self.text)


class DyingSandbox(EchoSandbox):
    """Answers once, then its container is gone."""

    async def run(self, action: Action, *, limit_s: float) -> Result:
        if self.ran:
            raise ConnectionResetError("Connection reset by peer")
        return await super().run(action, limit_s=limit_s)


class ImpatientSandbox(EchoSandbox):
    """Its own connection times out, long before the limit."""

    async def run(self, action: Action, *, limit_s: float) -> Result:
        await super().run(action, limit_s=limit_s)
        raise TimeoutError("read timed out")


class HangingSandbox(EchoSandbox):
    """Never answers."""

    async def run(self, action: Action, *, limit_s: float) -> Result:
        await super().run(action, limit_s=limit_s)
        await asyncio.Event().wait()
        raise AssertionError


class UnstartableSandbox(EchoSandbox):
    """Its image has no agent server."""

    @asynccontextmanager
    async def opened(self, _task: Task) -> AsyncIterator[EchoSandbox]:
        raise ConnectionRefusedError("Connection refused")
        yield self


class NeverReadySandbox(EchoSandbox):
    """Starts for ever."""

    @asynccontextmanager
    async def opened(self, _task: Task) -> AsyncIterator[EchoSandbox]:
        await asyncio.Event().wait()
        yield self


class UnremovableSandbox(EchoSandbox):
    """Cannot be removed."""

    @asynccontextmanager
    async def opened(self, _task: Task) -> AsyncIterator[EchoSandbox]:
        yield self
        raise OSError("container is in use")
