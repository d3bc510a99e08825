"""SWE-bench's own reader counts where its package is there; without it, and for other repositories, ours does."""

import json
import sys
import types
from collections.abc import Iterator

import pytest

from skyrl_train.contracts.rewards.score import Scored
from skyrl_train.contracts.rewards.suite_run import SuiteRun
from skyrl_train.contracts.tasks.rows import SWE_BENCH
from skyrl_train.rewards import swe_package
from skyrl_train.rewards.suite import compare_of

TEST = "tests/test_a.py::test_b"
EXPECTED = json.dumps({TEST: "PASSED"})
ODD = SuiteRun(output=f"\x1b[32m{TEST}\x1b[0m => fine\r\n", exit_code=0)
"""A format that our reader does not know."""
TASK = "owner__name-12"


def fine(output: str, _spec: object) -> dict[str, str]:
    return {line.partition(" => ")[0]: "PASSED" for line in output.splitlines() if line.endswith(" => fine")}


@pytest.fixture
def _installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    names = swe_package.PARSERS.split(".")
    for number in range(1, len(names) + 1):
        monkeypatch.setitem(sys.modules, ".".join(names[:number]), types.ModuleType(names[number - 1]))
    sys.modules[swe_package.PARSERS].__dict__["MAP_REPO_TO_PARSER_PY"] = {"owner/name": fine}
    swe_package._parsers.cache_clear()
    yield
    swe_package._parsers.cache_clear()


@pytest.mark.usefixtures("_installed")
def test_the_package_reads_its_repositories() -> None:
    assert compare_of(SWE_BENCH, TASK)(ODD, EXPECTED) == Scored(1.0, "all 1 tests pass")


@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("task_id", ["other__name-12", "", "owner/name"])
def test_other_tasks_are_read_by_ours(task_id: str) -> None:
    why = f"1 of 1 tests do not pass; {TEST} is not in the output"
    assert compare_of(SWE_BENCH, task_id)(ODD, EXPECTED) == Scored(0.0, why)


@pytest.mark.usefixtures("_installed")
def test_what_only_ours_reads_counts_too() -> None:
    assert compare_of(SWE_BENCH, TASK)(SuiteRun(output=f"PASSED {TEST}\n", exit_code=0), EXPECTED).reward == 1.0  # type: ignore[union-attr]


def test_without_the_package_there_is_no_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, swe_package.PARSERS.partition(".")[0], None)
    swe_package._parsers.cache_clear()
    assert swe_package.package_reader("django/django") is None
    swe_package._parsers.cache_clear()


def test_the_repository_stands_in_the_name_of_a_task() -> None:
    assert swe_package.repo_of("scikit-learn__scikit-learn-25973") == "scikit-learn/scikit-learn"
    assert swe_package.repo_of("a_row") == ""
