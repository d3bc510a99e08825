"""Our agent loop with sandboxes in temporary directories of this machine: the tasks are those of the demonstration."""

import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from cpu_stack.mend import write_mend
from cpu_stack.run import BROKEN
from skyrl_train.agent.sandboxes.directory import directory_sandbox
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.ports import OpenSandbox, Sandbox, Task
from skyrl_train.contracts.agent.transcript import Result
from skyrl_train.demo.rows import TASKS
from skyrl_train.demo.seed import write_seed
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
        name = str(row["extra_info"]["task_id"]).rpartition("-")[0]
        demo = next(task for task in TASKS if task.name == name)

        @asynccontextmanager
        async def opened(_task: Task) -> AsyncIterator[Sandbox]:
            if _broken(Path(os.environ[BROKEN])):
                raise RuntimeError("the sandbox's disk is full")
            with tempfile.TemporaryDirectory(prefix="skyrl-seed-") as seed:
                root = write_seed(demo, Path(seed), python=sys.executable)
                write_mend(demo, root / "testbed")
                async with directory_sandbox(root, environ=os.environ) as sandbox:
                    yield OneName(sandbox)

        return opened


class OneName:
    """The sandbox under the name that the model was taught with: each has another one, and no run reads the same twice."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def run(self, action: Action, *, limit_s: float) -> Result:
        result = await self._sandbox.run(action, limit_s=limit_s)
        return replace(result, text=re.sub("skyrl-sandbox-[a-z0-9_]{8}", "skyrl-sandbox-abcdefgh", result.text))

    async def program(self, bundle: bytes, request: bytes, *, limit_s: float) -> str:
        return await self._sandbox.program(bundle, request, limit_s=limit_s)


def _broken(path: Path) -> bool:
    """Whether this sandbox is one of so many, as the file says, that do not start."""
    left = int(path.read_text() or 0) if path.exists() else 0
    if left:
        path.write_text(str(left - 1))
    return left > 0
