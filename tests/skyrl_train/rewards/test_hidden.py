"""The tests leave the sandbox before the agent comes, and are back before they are run."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from skyrl_train.agent.sandboxes.directory import directory_sandbox
from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.ports import Sandbox
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.rewards.score import Scored, Unscorable, UnscorableReason
from skyrl_train.demo.rows import TASKS, r2e_row
from skyrl_train.demo.seed import write_seed
from skyrl_train.rewards.hidden import Hidden
from skyrl_train.rewards.suite import NoTestsError, suite_scorer

DEMO = TASKS[0]
TRANSCRIPT = Transcript(task_id="t", rollout_id="t-0", prompt=(), prompt_ids=(), steps=(), finish=Finish.FINISH_TOOL)


class Files:
    """Of a sandbox that is a directory: what is /root there lies below its R2E_ROOT."""

    def __init__(self, root: str) -> None:
        self._root = root

    async def read(self, path: str, *, limit_bytes: int) -> bytes:
        return Path(self._root + path).read_bytes()[:limit_bytes]

    async def upload(self, source: bytes, path: str) -> int:
        return Path(self._root + path).write_bytes(source)


async def said(sandbox: Sandbox, command: str) -> str:
    return (await sandbox.run(Action("terminal", {"command": command}), limit_s=30)).text.split("\n[The command")[0]


async def files_of(sandbox: Sandbox) -> Files:
    return Files((await said(sandbox, "echo $R2E_ROOT")).strip())


async def played(seed: Path) -> tuple[str, object]:
    async with directory_sandbox(seed, environ=os.environ) as sandbox:
        files, tests = await files_of(sandbox), Hidden()
        await tests.hide(sandbox, files)
        seen = await said(
            sandbox, "find $R2E_ROOT -path '*.venv' -prune -o -name 'test_1.py' -print; ls $R2E_ROOT/root"
        )
        await said(sandbox, "mkdir -p $R2E_ROOT/root/r2e_tests; echo 'echo PASSED' > $R2E_ROOT/root/run_tests.sh")
        score = await tests.scorer(files, suite_scorer(r2e_row(DEMO)["expected_output_json"]))(sandbox, TRANSCRIPT)
        return seen, score


def test_nothing_of_the_tests_is_there_for_the_agent_and_what_it_puts_in_their_place_is_not_run(tmp_path: Path) -> None:
    seen, score = asyncio.run(played(write_seed(DEMO, tmp_path, python=sys.executable)))
    assert seen.strip() == ""
    assert isinstance(score, Scored)
    assert score.reward == 0.0
    assert "expected PASSED" in score.why


def test_tests_that_were_never_kept_are_no_zero(tmp_path: Path) -> None:
    async def scored() -> object:
        async with directory_sandbox(write_seed(DEMO, tmp_path, python=sys.executable), environ=os.environ) as sandbox:
            return await Hidden().scorer(await files_of(sandbox), suite_scorer("{}"))(sandbox, TRANSCRIPT)

    assert asyncio.run(scored()) == Unscorable(UnscorableReason.TESTS_MISSING, "the tests were not kept")


def test_a_sandbox_without_tests_is_refused(tmp_path: Path) -> None:
    async def hide() -> None:
        (tmp_path / "testbed").mkdir()
        async with directory_sandbox(tmp_path, environ=os.environ) as sandbox:
            await Hidden().hide(sandbox, await files_of(sandbox))

    with pytest.raises(NoTestsError, match="the sandbox has no tests"):
        asyncio.run(hide())
