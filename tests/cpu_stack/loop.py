"""Our agent loop with sandboxes in temporary directories of this machine: the tasks are those of the demonstration."""

import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cpu_stack.run import BROKEN
from skyrl_train.agent.ports import OpenSandbox, Sandbox, Task
from skyrl_train.agent.sandboxes.directory import directory_sandbox
from skyrl_train.rl.agent_loop import SkyrlAgentLoop
from skyrl_train.tasks.demo.rows import TASKS
from skyrl_train.tasks.demo.seed import write_seed
from skyrl_train.tasks.demo.task import DemoTask


class DirectoryLoop(SkyrlAgentLoop):
    def sandboxes(self, row: Mapping[str, Any]) -> OpenSandbox:
        name = str(row["extra_info"]["task_id"]).rpartition("-")[0]
        demo = next(task for task in TASKS if task.name == name)

        @asynccontextmanager
        async def opened(_task: Task) -> AsyncIterator[Sandbox]:
            if os.path.exists(os.environ.get(BROKEN, "")):
                raise RuntimeError("the sandbox's disk is full")
            with tempfile.TemporaryDirectory(prefix="skyrl-seed-") as seed:
                root = write_seed(demo, Path(seed), python=sys.executable)
                _write_mend(demo, root / "testbed")
                async with directory_sandbox(root, environ=os.environ) as sandbox:
                    yield sandbox

        return opened


def _write_mend(demo: DemoTask, repository: Path) -> None:
    """The command that the tiny model knows: it puts the mended files in their places."""
    lines = [f"cat > {path} <<'END'\n{text}\nEND\n" for path, text in demo.gold.items()]
    (repository / "mend").write_text("".join(lines), encoding="utf-8")
