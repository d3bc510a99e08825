"""Runs the tests of a task in the rollout's own sandbox, and scores their output. Used if `sandbox.hide_tests` is off."""

import functools
import shlex
from collections.abc import Callable

from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.ports import Sandbox, Scorer
from skyrl_train.contracts.agent.transcript import Result, Transcript
from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.rewards.score import Score
from skyrl_train.contracts.rewards.suite_run import SuiteRun, score_run
from skyrl_train.contracts.tasks.rows import R2E_GYM, SWE_BENCH
from skyrl_train.rewards.swe import score_swe_run
from skyrl_train.rewards.swe_package import repo_of
from skyrl_train.tasks.r2e_sandbox import PREPARE, RUN_TESTS, has_tests

TESTS_S = 300.0
"""R2E-Gym's time limit."""
PREPARE_S = 120.0
LOST = "characters of output were not kept …]"
"""The tools' notice that part of an output was lost."""
_ENDING = "\n[The command completed with exit code "


class NoTestsError(TrainError):
    """A sandbox has no tests, so its rollouts cannot be scored."""


def suite_of(result: Result) -> SuiteRun:
    """The test run in a terminal's result, without the lines about the shell."""
    output = result.text.rpartition(_ENDING)[0] if _ENDING in result.text else result.text
    return SuiteRun(
        output=output,
        exit_code=-1 if result.timed_out else result.exit_code,
        timed_out=result.timed_out,
        truncated=LOST in output,
    )


def suite_scorer(expected_json: str, *, source: str = R2E_GYM, limit_s: float = TESTS_S) -> Scorer:
    """A scorer that runs the hidden tests in a new shell, without the model's variables and processes."""

    async def score(sandbox: Sandbox, transcript: Transcript) -> Score:
        return await suite_score(sandbox, expected_json, source=source, task_id=transcript.task_id, limit_s=limit_s)

    return score


async def suite_score(
    sandbox: Sandbox, expected_json: str, *, source: str = R2E_GYM, task_id: str = "", limit_s: float = TESTS_S
) -> Score:
    """Runs the tests and scores them by the rules of the task's data set."""
    return compare_of(source, task_id)(suite_of(await run_script(sandbox, RUN_TESTS, limit_s)), expected_json)


def compare_of(source: str, task_id: str = "") -> Callable[[SuiteRun, str], Score]:
    """The rules of a data set."""
    return functools.partial(score_swe_run, repo=repo_of(task_id)) if source == SWE_BENCH else score_run


async def prepare(sandbox: Sandbox) -> None:
    """Moves the tests out of the repository. NoTestsError if there are none, so that the rollout is masked (IMG006)."""
    result = await run_script(sandbox, PREPARE, PREPARE_S)
    if not has_tests(suite_of(result).output):
        raise NoTestsError(f"the sandbox has no tests: {result.text.strip()[-500:]}")


async def run_script(sandbox: Sandbox, script: str, limit_s: float) -> Result:
    """Runs a script in a new shell. Its timeout exceeds the limit, so that only the limit ends it."""
    command = f"bash -c {shlex.quote(script)}"
    action = Action("terminal", {"command": command, "reset": True, "timeout": 2 * limit_s})
    return await sandbox.run(action, limit_s=limit_s)
