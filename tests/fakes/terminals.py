"""A terminal of the tools, in a directory of its own, asked as the loop asks it."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from skyrl_train.agent.sandboxes.directory import directory_sandbox
from skyrl_train.contracts.agent.arguments import Action, Value
from skyrl_train.contracts.agent.ports import Sandbox
from skyrl_train.contracts.agent.transcript import Result

T = TypeVar("T")
PLAIN = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}


class Typist:
    """Types commands, and gives what came back without the lines about where the shell is."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    async def result(self, command: str, *, limit_s: float = 120.0, **more: Value) -> Result:
        return await self.sandbox.run(Action("terminal", {"command": command, **more}), limit_s=limit_s)

    async def __call__(self, command: str, *, limit_s: float = 120.0, **more: Value) -> tuple[str, int | None]:
        result = await self.result(command, limit_s=limit_s, **more)
        return output_of(result.text), result.exit_code


def output_of(text: str) -> str:
    """What stands before the first line in brackets."""
    return text.split("\n[", 1)[0]


def in_a_terminal(seed: Path, work: Callable[[Typist], Awaitable[T]]) -> T:
    (seed / "testbed").mkdir(exist_ok=True)

    async def run() -> T:
        async with directory_sandbox(seed, environ=PLAIN) as sandbox:
            return await work(Typist(sandbox))

    return asyncio.run(run())
