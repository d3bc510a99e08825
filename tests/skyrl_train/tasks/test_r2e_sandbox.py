"""The preparation of R2E-Gym's containers, run by a real bash on directories that look like theirs."""

import subprocess
from pathlib import Path

import pytest

from skyrl_train.tasks.r2e_sandbox import (
    FORGET,
    PREPARE,
    RUN_TESTS,
    TESTS_FOUND,
    TESTS_HIDDEN,
    TESTS_MISSING,
    has_tests,
)


def bash(script: str, root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script],
        env={"R2E_ROOT": str(root), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd="/",
    )


def prepared(root: Path) -> str:
    ran = bash(PREPARE, root)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def image(root: Path, *files: str) -> Path:
    """An image: these files, and a command of the tests that says where it runs and what it sees."""
    for name in ("testbed/a.py", *files):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('pwd; cat r2e_tests/test_1.py "$PWD/.venv/marker"' if path.suffix == ".sh" else name)
    for name in ("testbed/.venv/marker", "testbed/.venv/bin/python", "testbed/.venv/lib/kept.pyc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("venv")
    (root / "testbed/.venv/bin/python").chmod(0o755)
    return root


USUAL = ("testbed/run_tests.sh", "r2e_tests/test_1.py", "r2e_tests/test_1.pyc", "testbed/x/__pycache__/a.pyc")
OLDER = ("testbed/run_tests.sh", "testbed/r2e_tests/test_1.py")


@pytest.mark.parametrize("files", [USUAL, OLDER, (*USUAL, "testbed/r2e_tests/test_2.py")])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_tests_are_out_of_sight_and_run_in_the_repository(tmp_path: Path, files: tuple[str, ...], times: int) -> None:
    root = image(tmp_path, *files)
    for _ in range(times):
        assert prepared(root) == TESTS_FOUND + "\n"
    assert has_tests(prepared(root))
    assert sorted(path.name for path in (root / "testbed").iterdir() if path.name != "x") == [".venv", "a.py"]
    ran = bash(RUN_TESTS, root)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[0] == str(root / "testbed")
    assert ran.stdout.endswith("test_1.pyvenv")
    assert bash(RUN_TESTS, root).stdout == ran.stdout
    assert sorted(path.name for path in (root / "root/r2e_tests").iterdir()) == ["test_1.py"]


def test_what_the_agent_left_in_place_of_the_tests_is_not_run(tmp_path: Path) -> None:
    root = image(tmp_path, *USUAL)
    prepared(root)
    (root / "testbed/r2e_tests").mkdir()
    (root / "testbed/r2e_tests/test_1.py").write_text("assert True")
    assert bash(RUN_TESTS, root).stdout.endswith("r2e_tests/test_1.pyvenv")


@pytest.mark.parametrize("files", [(), ("testbed/run_tests.sh",), ("r2e_tests/test_1.py",)])
def test_an_image_without_tests_says_so(tmp_path: Path, files: tuple[str, ...]) -> None:
    output = prepared(image(tmp_path, *files))
    assert output == TESTS_MISSING + "\n"
    assert not has_tests(output)


def test_bytecode_goes_but_that_of_the_environment(tmp_path: Path) -> None:
    root = image(tmp_path, *USUAL)
    prepared(root)
    assert [path.name for path in root.rglob("*.pyc")] == ["kept.pyc"]


def test_the_interpreter_is_found_by_name(tmp_path: Path) -> None:
    root = image(tmp_path, *USUAL)
    prepared(root)
    assert (root / "root/.local/bin/python").resolve() == root / "testbed/.venv/bin/python"
    assert (root / "root/.venv").resolve() == root / "testbed/.venv"


def hidden(root: Path) -> str:
    """What happens with `hide_tests` on, before the agent: the time of it."""
    assert has_tests(prepared(root))
    ran = bash(FORGET, root)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


@pytest.mark.parametrize("files", [USUAL, OLDER])
def test_hidden_tests_are_nowhere(tmp_path: Path, files: tuple[str, ...]) -> None:
    root = image(tmp_path, *files)
    assert hidden(root).strip().isdecimal()
    left = [path for path in root.rglob("*") if "test_1" in path.name or path.name in ("run_tests.sh", "r2e_tests")]
    holding = [path for path in root.rglob("*") if path.is_file() and b"test_1.py" in path.read_bytes()]
    assert (left, holding) == ([], [])


def test_a_second_preparation_says_that_the_tests_were_taken_out(tmp_path: Path) -> None:
    root = image(tmp_path, *USUAL)
    hidden(root)
    output = prepared(root)
    assert output == TESTS_HIDDEN + "\n"
    assert not has_tests(output)


def test_tests_in_every_place_at_once_and_linked_already(tmp_path: Path) -> None:
    """As upstream's own preparation leaves a container: the tests in /root, linked into the repository."""
    root = image(tmp_path, "root/run_tests.sh", "root/r2e_tests/test_1.py")
    (root / "testbed/r2e_tests").symlink_to(root / "root/r2e_tests")
    assert prepared(root) == TESTS_FOUND + "\n"
    assert not (root / "testbed/r2e_tests").is_symlink()
    assert bash(RUN_TESTS, root).stdout.endswith("test_1.pyvenv")
