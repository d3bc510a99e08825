"""Our agent loop with sandboxes in temporary directories of this machine: the tasks are those of the demonstration."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cpu_stack.loop_sandboxes import demo_sandboxes
from cpu_stack.run import BROKEN, LATE
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.ports import OpenSandbox, Sandbox, Task
from skyrl_train.contracts.agent.transcript import Result
from skyrl_train.contracts.job_files import COUNTS
from skyrl_train.rl.agent_loop import SkyrlAgentLoop

NO_IMAGE = "no_image"
"""Beside the file of the broken ones: rows are such as our own loop cannot read."""
DOWN = "runtime_down"
"""Beside it: so many answers of the runtime's health are bad."""
LATE_S, LOOK_S = 90.0, 0.2
"""The longest wait of a late sandbox, and how often it looks for the batches of the training."""


class DirectoryLoop(SkyrlAgentLoop):
    async def health(self) -> str:
        """A runtime that is down has its file; it counts how often it is asked."""
        down = Path(os.environ[BROKEN]).with_name(DOWN)
        left = int(down.read_text() or 0) if down.exists() else 0
        if left:
            down.write_text(str(left - 1))
        return "no answer from http://n:1" if left else ""

    def sandboxes(self, row: Mapping[str, Any]) -> OpenSandbox:
        if Path(os.environ[BROKEN]).with_name(NO_IMAGE).exists():
            raise KeyError("image")
        inner = demo_sandboxes(row)

        @asynccontextmanager
        async def opened(task: Task) -> AsyncIterator[Sandbox]:
            if _broken(Path(os.environ[BROKEN])):
                raise RuntimeError("the sandbox's disk is full")
            job = Path(os.environ[BROKEN]).parent
            async with inner(task) as sandbox:
                yield LateSandbox(sandbox, job / COUNTS) if (job / LATE).exists() else sandbox

        return opened


class LateSandbox:
    """One sandbox of the process at a time is late: the agent's first command takes until the batches of two steps are
    drawn, so its rollout goes on with later weights. Our own commands start a new shell, and are never late.
    """

    late = False

    def __init__(self, sandbox: Sandbox, counts: Path) -> None:
        self._sandbox, self._counts = sandbox, counts
        self._first = True

    async def run(self, action: Action, *, limit_s: float) -> Result:
        if not action.arguments.get("reset"):
            if self._first and not LateSandbox.late:
                LateSandbox.late = True
                try:
                    await self._two_steps()
                finally:
                    LateSandbox.late = False
            self._first = False
        return await self._sandbox.run(action, limit_s=limit_s)

    async def program(self, bundle: bytes, request: bytes, *, limit_s: float) -> str:
        return await self._sandbox.program(bundle, request, limit_s=limit_s)

    async def _two_steps(self) -> None:
        drawn = self._drawn()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LATE_S):
                while self._drawn() < drawn + 2:
                    await asyncio.sleep(LOOK_S)

    def _drawn(self) -> int:
        return self._counts.read_bytes().count(b"\n") if self._counts.exists() else 0


def _broken(path: Path) -> bool:
    """Whether this sandbox is one of so many, as the file says, that do not start."""
    left = int(path.read_text() or 0) if path.exists() else 0
    if left:
        path.write_text(str(left - 1))
    return left > 0
