"""Scripts that start pytest as few do: twice, with their output closed, not at all."""

import sys
from pathlib import Path
from typing import Any

import pytest

from skyrl_train.rewards.inside.supervise import run_tests

PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider"


@pytest.fixture(name="run")
def _run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("a", "b"):
        (tmp_path / f"test_{name}.py").write_text("def test_it(): pass\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return lambda script: run_tests(script, str(tmp_path), [], 60.0)


def test_one_pytest_is_watched_to_its_end(run: Any) -> None:
    found = run(f"{PYTEST} test_a.py test_b.py")
    assert (len(found["results"]), found["finished"], found["exit_code"]) == (2, True, 0)


def test_of_two_none_is_watched_and_both_print(run: Any) -> None:
    found = run(f"{PYTEST} -rA test_a.py; {PYTEST} -rA test_b.py")
    assert found["results"] is None
    assert "PASSED test_a.py::test_it" in found["output"]
    assert "PASSED test_b.py::test_it" in found["output"]


def test_a_script_that_closes_its_output_is_watched(run: Any) -> None:
    found = run(f"exec >/dev/null 2>&1; {PYTEST} test_a.py")
    assert (found["timed_out"], len(found["results"]), found["finished"]) == (False, 1, True)
