"""A rollout of a demo task in directories: an agent that writes files, and its score in a new sandbox."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from skyrl_train.agent.sandboxes.directory import directory_sandbox
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.ports import Sandbox, Task
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable
from skyrl_train.contracts.tasks.rows import SWE_BENCH
from skyrl_train.demo.rows import TASKS, r2e_row
from skyrl_train.demo.seed import write_seed
from skyrl_train.rewards.fresh import Controls, Suite, fresh

DEMO = TASKS[0]
EXPECTED = r2e_row(DEMO)["expected_output_json"]
TRANSCRIPT = Transcript(task_id="t", rollout_id="t-0", prompt=(), prompt_ids=(), steps=(), finish=Finish.FINISH_TOOL)
NAMES = "slugs/names.py"
MENDED = DEMO.gold[NAMES]
BASE = DEMO.files[NAMES]
DONE = Scored(1.0, "all 4 tests as expected")
SWE = Suite(
    expected='{"r2e_tests/test_1.py::test_nothing_is_left_of_signs": "PASSED", "tests/test_names.py::test_one_word": "PASSED"}',
    source=SWE_BENCH,
)


class Agent:
    """What an agent does in its sandbox."""

    def __init__(self, files: Mapping[str, str], command: str = "true") -> None:
        self._files = files
        self._command = command
        self.seen = ""

    async def act(self, sandbox: Sandbox) -> None:
        root = (await said(sandbox, "pwd")).strip()
        for path, text in self._files.items():
            target = Path(root) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        self.seen = await said(sandbox, self._command)


async def said(sandbox: Sandbox, command: str) -> str:
    result = await sandbox.run(Action("terminal", {"command": command}), limit_s=60)
    return result.text.split("\n[The command")[0]


def score(place: Path, agent: Agent, suite: Suite | None = None, seed: Path | None = None) -> Score:
    seed = seed or write_seed(DEMO, place, python=sys.executable)

    @asynccontextmanager
    async def seeded(_task: Task) -> AsyncIterator[Sandbox]:
        async with directory_sandbox(seed, environ=os.environ) as sandbox:
            yield sandbox

    async def played() -> Score:
        opened, scorer = fresh(seeded, suite or Suite(expected=EXPECTED), Controls())
        async with opened(Task(id="t", rollout_id="t-0", prompt=())) as sandbox:
            await agent.act(sandbox)
            grade = await scorer(sandbox, TRANSCRIPT)
        assert not isinstance(grade, Scored | Unscorable)
        return await grade()

    return asyncio.run(played())
