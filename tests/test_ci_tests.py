"""`.ci/tests`: what passes the second time is told, what fails twice fails, and so does what fails in many places."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / ".ci/tests"
TESTS = """
import os, pathlib, pytest
seen = pathlib.Path("seen")

def test_unsteady():
    times = int(seen.read_text()) if seen.exists() else 0
    seen.write_text(str(times + 1))
    assert times >= int(os.environ["PASSES_AFTER"])

@pytest.mark.parametrize("number", range(2))
def test_steady(number):
    assert "BROKEN" not in os.environ
"""


@pytest.mark.parametrize(
    ("env", "exit_code", "times", "told"),
    [
        ({"PASSES_AFTER": "0"}, 0, 1, ""),
        ({"PASSES_AFTER": "1"}, 0, 2, "test_it.py::test_unsteady\n"),
        ({"PASSES_AFTER": "2"}, 1, 2, ""),
        ({"PASSES_AFTER": "1", "BROKEN": "yes"}, 1, 1, ""),
    ],
    ids=["passes", "unsteady", "fails twice", "fails in many places"],
)
def test_a_failure_is_looked_at_once_more(
    tmp_path: Path, env: dict[str, str], exit_code: int, times: int, told: str
) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    unsteady = tmp_path / "unsteady"
    unsteady.touch()
    argv = ["bash", str(SCRIPT), sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "test_it.py"]
    given = {**os.environ, **env, "UNSTEADY": str(unsteady)}
    done = subprocess.run(argv, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=300)
    assert done.returncode == exit_code, done.stdout + done.stderr
    assert ((tmp_path / "seen").read_text(), unsteady.read_text()) == (str(times), told)


def test_no_test_at_all_is_no_pass(tmp_path: Path) -> None:
    argv = ["bash", str(SCRIPT), sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-k", "nothing", "."]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 5, done.stdout + done.stderr
