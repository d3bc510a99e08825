"""Evaluations with real rollouts: sandboxes are directories, rewards come from pytest, the model has fixed replies."""

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cpu_stack.mend import write_mend
from cpu_stack.tiny import ENDS, LOOKS, MENDS
from fakes.terminals import PLAIN
from skyrl_train.agent.sandboxes.directory import directory_sandbox
from skyrl_train.agent.scripted import ScriptedModel
from skyrl_train.config.load import parse
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.ports import Model, OpenSandbox, Sandbox, Task
from skyrl_train.contracts.agent.transcript import Transcript
from skyrl_train.contracts.tasks.rows import TaskRow, read_row
from skyrl_train.demo.rows import TASKS, r2e_row
from skyrl_train.demo.seed import write_seed
from skyrl_train.evaluation.evaluate import Evaluation, evaluate, outcome_of, outstanding, report_of
from skyrl_train.evaluation.kept import Kept
from skyrl_train.tasks.convert import verl_row

CONFIG = parse(
    """
[model]
path = "/m"
[data]
max_prompt_tokens = 20000
max_response_tokens = 20000
[rollout]
n = 1
max_model_len = 40000
[agent]
max_turns = 3
"""
)
REPLIES = {"mends": (MENDS, ENDS), "looks": (LOOKS, ENDS), "talks": ("hm", "hm", "hm")}


def rows(count: int) -> list[Mapping[str, Any]]:
    made: list[Mapping[str, Any]] = []
    for number, demo in enumerate(TASKS[:count]):
        task = read_row(r2e_row(demo), number)
        assert isinstance(task, TaskRow)
        row = verl_row(task, number)
        made.append({**row, "raw_prompt": row["prompt"]})
    return made


class Sandboxes:
    """Directories with the task of the row. The next `lost` of them do not start."""

    def __init__(self, lost: int = 0) -> None:
        self.lost = lost
        self.opened: list[str] = []

    def __call__(self, row: Mapping[str, Any]) -> OpenSandbox:
        demo = next(task for task in TASKS if str(row["extra_info"]["task_id"]).startswith(task.name))

        @asynccontextmanager
        async def opened(task: Task) -> AsyncIterator[Sandbox]:
            self.opened.append(task.rollout_id)
            if self.lost:
                self.lost -= 1
                raise ConnectionResetError("the runtime is gone")
            with tempfile.TemporaryDirectory() as seed:
                root = write_seed(demo, Path(seed), python=sys.executable)
                write_mend(demo, root / "testbed")
                async with directory_sandbox(root, environ=PLAIN) as sandbox:
                    yield sandbox

        return opened


def evaluation(
    what: Callable[[int, int], str], sandboxes: Sandboxes, *, count: int = 2, samples: int = 2, parallel: int = 4
) -> Evaluation:
    def model_of(_name: str, row: int, sample: int) -> Model:
        return ScriptedModel(REPLIES[what(row, sample)])

    agent = CONFIG.agent.model_copy(update={"max_parallel": parallel})
    return Evaluation(
        rows=rows(count),
        samples=samples,
        config=CONFIG.model_copy(update={"agent": agent}),
        model_of=model_of,
        sandboxes_of=sandboxes,
    )


def run(one: Evaluation, kept: Kept) -> dict[str, Any]:
    asyncio.run(evaluate(one, kept))
    return report_of(one, kept.done, [1, one.samples])


def test_pass_rates_of_real_rollouts_in_sum_and_by_repository(tmp_path: Path) -> None:
    """The first task is solved in one of two rollouts, the second in none: once the model only talks."""
    plan: Sequence[Sequence[str]] = (("mends", "looks"), ("looks", "talks"))
    report = run(evaluation(lambda row, sample: plan[row][sample], Sandboxes()), Kept(tmp_path, {}))
    assert {k: one["rate"] for k, one in report["pass"].items()} == {"1": 0.25, "2": 0.5}
    assert {name: one["pass"]["1"]["rate"] for name, one in report["repositories"].items()} == {
        "intervals": 0.0,
        "slugs": 0.5,
    }
    assert (report["rollouts"], report["without_result"], report["missing"]) == (4, 0, 0)
    assert report["ends"] == {"FINISH_TOOL": 3, "NO_FUNCTION_CALL": 1}


def test_rollouts_that_infrastructure_failed_have_no_result_and_are_run_again(tmp_path: Path) -> None:
    sandboxes = Sandboxes(lost=1)
    one = evaluation(lambda _row, _sample: "mends", sandboxes, count=1, parallel=1)
    first = run(one, Kept(tmp_path, {}))
    assert (first["pass"]["1"]["rate"], first["without_result"]) == (1.0, 1)
    before = len(sandboxes.opened)
    second = run(one, Kept(tmp_path, {}))
    assert (second["without_result"], second["pass"]["2"]["tasks"]) == (0, 1)
    assert {name.removesuffix("-grade1") for name in sandboxes.opened[before:]} == {"0-0"}


def test_an_evaluation_that_was_ended_runs_only_the_rest(tmp_path: Path) -> None:
    """Ended after its first rollout, as by Ctrl-C; then nothing is run twice."""
    sandboxes = Sandboxes()
    one = evaluation(lambda _row, _sample: "looks", sandboxes, count=1, samples=3, parallel=1)
    kept = Kept(tmp_path, {})

    async def ended_early() -> None:
        work = asyncio.create_task(evaluate(replace(one, ended=lambda _: work.cancel()), kept))
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(ended_early())
    assert [*kept.done] == ["0-0"]
    again = Kept(tmp_path, {})
    assert outstanding(one, again.done) == [(0, 1), (0, 2)]
    assert run(one, again)["rollouts"] == 3
    begun = [name for name in sandboxes.opened if "grade" not in name]
    assert begun.count("0-0") == 1


def test_equal_rollouts_give_an_equal_report(tmp_path: Path) -> None:
    made = [
        json.dumps(run(evaluation(lambda _r, _s: "mends", Sandboxes(), count=1), Kept(tmp_path / name, {})))
        for name in ("a", "b")
    ]
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("finish", "solved"),
    [
        (Finish.CONTEXT_WINDOW_EXCEEDED, False),
        (Finish.MAX_ITERATIONS_REACHED, False),
        (Finish.ROLLOUT_TIMEOUT, False),
        (Finish.ERROR_EVALUATION, None),
        (Finish.ERROR_MODEL, None),
        (Finish.CANCELLED, None),
    ],
)
def test_a_limit_of_the_rollout_is_no_solution_and_a_lost_server_no_result(finish: Finish, solved: bool | None) -> None:
    transcript = Transcript(task_id="t", rollout_id="0-0", prompt=(), prompt_ids=(), steps=(), finish=finish)
    assert outcome_of(rows(1)[0], 0, transcript).solved is solved
