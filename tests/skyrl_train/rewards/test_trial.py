"""AGT021: trying a reward, and what a failing sandbox says about it: nothing."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.sandboxes import DyingSandbox, EchoSandbox
from fakes.terminals import PLAIN
from skyrl_train.agent.sandboxes.directory import directory_sandbox
from skyrl_train.contracts.agent.ports import Sandbox
from skyrl_train.contracts.rewards.oracle import OracleReport, TaskVerdict, Verdict, read_report, report_json
from skyrl_train.contracts.tasks.rows import TaskRow, read_row
from skyrl_train.demo.rows import TASKS, r2e_row
from skyrl_train.demo.seed import write_seed
from skyrl_train.rewards.trial import tried
from skyrl_train.tasks.gold import GoldDiff, GoldFiles, gold_of

DEMO = TASKS[0]
ROW = read_row(r2e_row(DEMO), 1)
GOLD = gold_of(r2e_row(DEMO))
assert isinstance(ROW, TaskRow)
DIFF = """\
--- a/slugs/names.py
+++ b/slugs/names.py
@@ -5,4 +5,4 @@

 def slug(title: str) -> str:
     \"\"\"Small letters and digits, with one hyphen where anything else stood.\"\"\"
-    return re.sub(r"[^a-z0-9]", "-", title.lower())
+    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
"""


def verdict(task: TaskRow, gold: GoldFiles | GoldDiff | None, place: Path) -> TaskVerdict:
    seed = write_seed(DEMO, place, python=sys.executable)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Sandbox]:
        async with directory_sandbox(seed, environ=PLAIN) as sandbox:
            yield sandbox

    return asyncio.run(tried(task, gold, opened))


@pytest.mark.parametrize("gold", [GOLD, GoldDiff(DIFF)])
def test_a_good_task(tmp_path: Path, gold: GoldFiles | GoldDiff) -> None:
    assert verdict(ROW, gold, tmp_path) == TaskVerdict("slugs:1", Verdict.GOOD)


def test_a_reward_that_no_patch_can_earn(tmp_path: Path) -> None:
    never = replace(ROW, expected='{"test_of_another_time": "PASSED"}')
    assert verdict(never, GOLD, tmp_path) == TaskVerdict(
        "slugs:1", Verdict.BROKEN, "the gold patch scores 0; expected 1: 4 tests in the summary, 1 expected"
    )


def test_a_patch_that_does_not_apply(tmp_path: Path) -> None:
    found = verdict(ROW, GoldDiff(DIFF.replace("names", "gone")), tmp_path)
    assert found.verdict is Verdict.BROKEN
    assert found.detail.startswith("the gold patch does not apply: ")


def test_a_row_without_a_patch(tmp_path: Path) -> None:
    assert verdict(ROW, None, tmp_path).verdict is Verdict.BROKEN


@pytest.mark.parametrize("sandbox", [DyingSandbox(), EchoSandbox()])
def test_a_sandbox_that_fails_is_no_zero(sandbox: EchoSandbox) -> None:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Sandbox]:
        yield sandbox

    found = asyncio.run(tried(ROW, GOLD, opened))
    assert found.verdict is Verdict.UNSCORABLE


def test_a_report_comes_back_and_garbage_does_not() -> None:
    report = OracleReport(bytes=3, tasks=(TaskVerdict("a", Verdict.GOOD), TaskVerdict("b", Verdict.BROKEN, "é")))
    assert read_report(report_json(report)) == report
    for text in ("", "[]", "{}", '{"format": 2}', '{"format":1,"bytes":"x","tasks":[]}', "[" * 100_000):
        assert read_report(text) is None
