"""The tests of another project on our code: what counts as a case, and as a failure."""

from pathlib import Path

from benchmarks.suites.cases import Case
from benchmarks.suites.foreign import PASSED, foreign_tests

TESTS = """
import pathlib
import sys

def test_late():
    runs = pathlib.Path("runs")
    before = runs.read_text() if runs.exists() else ""
    runs.write_text(before + "x")
    assert before != "x", "the second run is late"

def test_theirs_alone():
    if "ours" in sys.modules:
        raise ValueError("not ours")

def test_broken():
    assert False
"""


def test_a_test_that_fails_has_a_second_chance(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "ours.py").write_text("", encoding="utf-8")
    cases = foreign_tests(tmp_path, ["test_a.py"], "ours", {"test_theirs_alone": "docs/a.md: differs"})
    assert [*cases] == [
        Case("test_a::test_late", PASSED, PASSED),
        Case("test_a::test_theirs_alone", "ValueError: not ours", PASSED, "docs/a.md: differs"),
    ]
