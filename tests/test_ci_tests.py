"""`.ci/tests`: what passes the second time is told, what fails twice fails, and so does what fails in many places.

`.ci/steps`: a step beside others waits for no one, and its failure is the run's."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / ".ci/tests"
STEPS = SCRIPT.with_name("steps")
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


RUN = """set -euo pipefail
. "$STEPS"
trap end_steps EXIT
several() {
  step "first" echo "one of several"
  step "second" bash -c "$BESIDE"
  step "third" echo "the last of several"
}
mkfifo met
beside "slow" several
step "quick" bash -c "$QUICK"
joined
step "end" echo "all passed"
"""
MEETS = "echo >met; echo met"
HEARS = "read -r <met; echo heard"
TOGETHER = (
    *("slow starts beside the next steps", "quick", "heard", "slow ran beside"),
    *("first", "one of several", "second"),
)


@pytest.mark.parametrize(
    ("beside", "quick", "exit_code", "told"),
    [
        (
            MEETS,
            HEARS,
            0,
            [*TOGETHER, "met", "third", "the last of several", "end", "all passed"],
        ),
        (
            f"{MEETS}; exit 3",
            HEARS,
            3,
            [*TOGETHER, "met", "slow exited with status 3"],
        ),
        (
            MEETS,
            f"{HEARS}; exit 4",
            4,
            [*TOGETHER, "met", "third", "the last of several"],
        ),
    ],
    ids=["both pass", "the one beside fails", "the other fails"],
)
def test_steps_run_beside_each_other(tmp_path: Path, beside: str, quick: str, exit_code: int, told: list[str]) -> None:
    """Each waits for the other, so neither ends where they run one after the other."""
    env = {**os.environ, "STEPS": str(STEPS), "BESIDE": beside, "QUICK": quick, "TMPDIR": str(tmp_path)}
    done = subprocess.run(["bash", "-c", RUN], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, lines(done.stdout), done.stderr) == (exit_code, told, "")
    assert [path.name for path in tmp_path.iterdir()] == ["met"]


def test_one_by_one_runs_each_step_alone(tmp_path: Path) -> None:
    (tmp_path / "met").touch()
    env = {**os.environ, "STEPS": str(STEPS), "BESIDE": MEETS, "QUICK": HEARS, "ONE_BY_ONE": "1"}
    script = RUN.replace("mkfifo met", "")
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    steps = ["slow", "first", "one of several", "second", "met", "third", "the last of several"]
    assert (done.returncode, lines(done.stdout)) == (0, [*steps, "quick", "heard", "end", "all passed"])


def test_a_second_step_beside_is_refused(tmp_path: Path) -> None:
    script = '. "$STEPS"; trap end_steps EXIT; beside one true; beside two true'
    env = {**os.environ, "STEPS": str(STEPS)}
    done = subprocess.run(["bash", "-ec", script], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "one is still running; call joined first\n")


def lines(text: str) -> list[str]:
    """The lines of a run without its marks and seconds."""
    return [re.sub(r"^== | \(\d+s\)$", "", line) for line in text.splitlines() if line]
