"""Sandboxes in temporary directories of this machine for the tasks of the demonstration."""

import asyncio
import atexit
import functools
import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from cpu_stack.mend import write_mend
from skyrl_train.agent.sandboxes.directory import directory_sandbox
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.ports import OpenSandbox, Sandbox, Task
from skyrl_train.contracts.agent.transcript import Result
from skyrl_train.demo.rows import TASKS
from skyrl_train.demo.seed import write_seed

_WRITES = threading.Lock()


def demo_sandboxes(row: Mapping[str, Any]) -> OpenSandbox:
    """The sandboxes of a row, whose task begins with the name of one of the demonstration."""
    name = str(row["extra_info"]["task_id"]).rpartition("-")[0]

    @asynccontextmanager
    async def opened(_task: Task) -> AsyncIterator[Sandbox]:
        async with directory_sandbox(await asyncio.to_thread(_seed, name), environ=os.environ) as sandbox:
            yield OneName(sandbox)

    return opened


def _seed(name: str) -> Path:
    with _WRITES:
        return _written(name)


@functools.cache
def _written(name: str) -> Path:
    """The task's files, written once a process: git's commit would hold up all rollouts of the loop each time."""
    demo = next(task for task in TASKS if task.name == name)
    folder = tempfile.mkdtemp(prefix="skyrl-task-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = write_seed(demo, Path(folder), python=sys.executable)
    write_mend(demo, root / "testbed")
    return root


class OneName:
    """The sandbox under the name that the model was taught with: each has another one, and no run reads the same twice."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def run(self, action: Action, *, limit_s: float) -> Result:
        result = await self._sandbox.run(action, limit_s=limit_s)
        return replace(result, text=re.sub("skyrl-sandbox-[a-z0-9_]{8}", "skyrl-sandbox-abcdefgh", result.text))

    async def program(self, bundle: bytes, request: bytes, *, limit_s: float) -> str:
        return await self._sandbox.program(bundle, request, limit_s=limit_s)
