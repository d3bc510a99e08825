"""`.ci/tests`: what passes the second time is told, what fails twice fails, and so does what fails in many places."""

import os
import re
import shutil
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


def test_a_lane_installs_what_it_wants_where_only_some_of_it_is_there() -> None:
    """`command -v one two` succeeds when one of them is there; `type -P` when all are."""
    asks = re.compile(r"(?<![$(])command -v \S+ [\w.-]")
    found = [
        f"{script.name}: {line.strip()}"
        for script in SCRIPT.parent.iterdir()
        for line in script.read_text().splitlines()
        if asks.search(line)
    ]
    assert not found


@pytest.mark.parametrize("lane", ["podman-lane", "slurm-lane", "cgroup2-lane", "browser-lane"])
def test_a_lane_asks_for_each_program(lane: str, tmp_path: Path) -> None:
    """With every program but one there, it wants to install: as a user who is not root it says so."""
    text = (SCRIPT.parent / lane).read_text()
    one = re.search(r"(?:type -P|in) ([\w.-]+(?: [\w.-]+)+?)(?: >/dev/null)?; (?:then|do)", text)
    assert one, "the lane's list of programs"
    first, *others = one[1].split()
    bash = str(shutil.which("bash"))
    (tmp_path / "dirname").symlink_to(str(shutil.which("dirname")))
    for name, says in [("id", "1000"), *((name, "") for name in others)]:  # a user who may not install
        (tmp_path / name).write_text(f"#!{bash}\necho {says}\n")
        (tmp_path / name).chmod(0o755)
    asked = subprocess.run(
        [bash, SCRIPT.parent / lane], env={"PATH": str(tmp_path)}, capture_output=True, text=True, timeout=60
    )
    assert asked.returncode == 1
    assert asked.stderr.startswith("wanted: "), f"without {first}: {asked.stderr}"
