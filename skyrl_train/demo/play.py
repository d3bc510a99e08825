"""Runs a task of the demo from prompt to reward in a given sandbox."""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from skyrl_train.agent.loop import rollout
from skyrl_train.agent.sandboxes.piped import SandboxLostError
from skyrl_train.agent.scripted import ScriptedModel
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.limits import Limits
from skyrl_train.contracts.agent.ports import Sandbox, Task
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.tasks.rows import TaskRow, read_row
from skyrl_train.demo.rows import r2e_row
from skyrl_train.demo.seed import write_seed
from skyrl_train.demo.task import REPOSITORY, DemoTask
from skyrl_train.rewards.fresh import Controls, Suite, fresh
from skyrl_train.tasks.convert import prompt_of

MakeSandbox = Callable[[Path], AbstractAsyncContextManager[Sandbox]]
"""Makes a sandbox whose root is a copy of a directory."""

LIMITS = Limits(
    model_len=65_536,
    prompt_tokens=16_384,
    response_tokens=49_152,
    reply_tokens=4_096,
    turns=20,
    start_s=60.0,
    command_s=60.0,
    rollout_s=300.0,
    score_s=120.0,
    close_s=30.0,
)


async def play(demo: DemoTask, make: MakeSandbox, *, python: str) -> Transcript:
    """Runs one rollout of the scripted model. `python` is the Python with pytest in the sandbox."""
    row = read_row(r2e_row(demo), 1)
    assert isinstance(row, TaskRow)
    directory: list[str] = []

    @asynccontextmanager
    async def seeded(_task: Task) -> AsyncIterator[Sandbox]:
        with tempfile.TemporaryDirectory(prefix="skyrl-seed-") as seed:
            async with make(write_seed(demo, Path(seed), python=python)) as sandbox:
                yield sandbox

    hidden, scorer = fresh(seeded, Suite(expected=row.expected), Controls())

    @asynccontextmanager
    async def opened(task: Task) -> AsyncIterator[Sandbox]:
        async with hidden(task) as sandbox:
            directory.append(await _directory(sandbox))
            yield sandbox

    task = Task(id=row.id, rollout_id=f"{row.id}-0", prompt=prompt_of(row, directory="your working directory"))
    model = ScriptedModel(_replies(demo, directory))
    return await rollout(task, model, opened, LIMITS, scorer=scorer)


def _replies(demo: DemoTask, directory: list[str]) -> Iterator[str]:
    """Yields the replies with the path of the repository, which is known once the sandbox runs."""
    for reply in demo.replies:
        yield reply.replace(REPOSITORY, directory[-1])


async def _directory(sandbox: Sandbox) -> str:
    """The working directory of commands, from a new shell, so that nothing of the preparation is left in it."""
    result = await sandbox.run(Action("terminal", {"command": "pwd", "reset": True}), limit_s=LIMITS.command_s)
    lines = result.text.splitlines()
    if result.exit_code != 0 or len(lines) < 3:
        raise SandboxLostError(f"the sandbox did not print its working directory: {result.text[-500:]}")
    return lines[2]  # after the message of the reset and an empty line
