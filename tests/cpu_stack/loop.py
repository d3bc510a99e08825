"""Our agent loop with sandboxes in temporary directories of this machine: the tasks are those of the demonstration."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cpu_stack.loop_sandboxes import demo_sandboxes
from cpu_stack.run import BROKEN, LATE
from skyrl_train.contracts.agent.ports import OpenSandbox, Sandbox, Task
from skyrl_train.rl.agent_loop import SkyrlAgentLoop

NO_IMAGE = "no_image"
"""Beside the file of the broken ones: rows are such as our own loop cannot read."""
DOWN = "runtime_down"
"""Beside it: so many answers of the runtime's health are bad."""


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
            await asyncio.sleep(_late(Path(os.environ[BROKEN]).with_name(LATE)))
            async with inner(task) as sandbox:
                yield sandbox

        return opened


_opened = itertools.count(1)


def _late(path: Path) -> float:
    """How long the next sandbox of this process waits."""
    every, seconds = path.read_text().split() if path.exists() else ("1", "0")
    return 0.0 if next(_opened) % int(every) else float(seconds)


def _broken(path: Path) -> bool:
    """Whether this sandbox is one of so many, as the file says, that do not start."""
    left = int(path.read_text() or 0) if path.exists() else 0
    if left:
        path.write_text(str(left - 1))
    return left > 0
