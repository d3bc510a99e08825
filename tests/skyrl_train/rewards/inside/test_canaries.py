"""Tests that must fail, added to hidden tests."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from skyrl_train.rewards.inside import canaries
from skyrl_train.rewards.inside.canaries import add_canaries, copy_that_fails

TESTS = "import pytest\n\n@pytest.mark.skip\ndef test_a():\n    pass\n\ndef test_b(tmp_path):\n    if tmp_path:\n        assert 1\n\ndef test_c(): return\n"


def test_each_of_them_fails_and_the_others_are_as_before(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(TESTS)
    added = add_canaries(str(tmp_path), ["test_x.py"])
    assert [len(names) for names in added.values()] == [4]
    words = [sys.executable, "-m", "pytest", "-rA", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    failed = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("FAILED")}
    passed = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("PASSED")}
    assert (failed, passed) == ({*added["test_x.py"]}, {"test_x.py::test_b", "test_x.py::test_c"})


@pytest.mark.parametrize(
    "text", ["pytestmark = 1\n", "def test_a(:\n", "def pytest_generate_tests(m): pass\n", "def load_tests(): pass\n"]
)
def test_a_file_that_marks_or_makes_its_tests_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "test_x.py").write_text(text)
    assert add_canaries(str(tmp_path), ["test_x.py", "test_none.py"]) == {}
    assert (tmp_path / "test_x.py").read_text() == text


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        ("def test_a(x):\n  assert x\n", "\n\ndef new(x):\n  assert x\n  assert len('new') == 0\n"),
        ("def test_a(x): assert x\n", ""),
        ("def test_a(x):\n  return\n", ""),
        ("@mark\ndef test_a(x):\n  assert x\n", ""),
        ("async def test_a(x):\n  assert x\n", ""),
    ],
)
def test_the_copy_of_a_test(text: str, copy: str) -> None:
    assert copy_that_fails(text, ast.parse(text), "new") == copy


def test_the_files_of_hidden_and_of_named_tests(tmp_path: Path) -> None:
    for name in ("r2e_tests/test_1.py", "r2e_tests/deep/b_test.py", "r2e_tests/helper.py", "tests/x.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    names = ["tests/x.py::test_a", "../x.py::test_a", "tests/none.py::test_a", "test_b"]
    assert sorted(canaries.test_files(str(tmp_path), names)) == [
        "r2e_tests/deep/b_test.py",
        "r2e_tests/test_1.py",
        "tests/x.py",
    ]
