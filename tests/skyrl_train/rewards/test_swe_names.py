"""Names in rows of SWE-bench that differ from pytest's."""

import pytest

from skyrl_train.rewards.swe_names import match_names


@pytest.mark.parametrize(
    ("expected", "found", "status"),
    [
        ("t.py::test_x[a", {"t.py::test_x[a b]": "PASSED"}, "PASSED"),
        ("t.py::test_x[log(photon", {"t.py::test_x[log(photon / s)]": "FAILED"}, "FAILED"),
        ("t.py::test_x[No", {"t.py::test_x[None]": "PASSED", "t.py::test_x[No-v]": "XFAIL"}, "XFAIL"),
        ("t.py::test_x[No", {"t.py::test_x[None]": "PASSED", "t.py::test_x[No-v]": "FAILED"}, "FAILED"),
        ("t.py::test_x[No", {"t.py::test_x[None]": "PASSED", "t.py::test_x[No-v]": "SKIPPED"}, "PASSED"),
        ("t.py::test_x[a]", {"t.py::test_x[a] b]": "PASSED"}, "PASSED"),
        ("t.py::test_x[/last.txt]", {"t.py::test_x[/home/u/last.txt]": "PASSED"}, "PASSED"),
        ("t.py::test_x[//a/b]", {"t.py::test_x[//a/b]": "PASSED"}, "PASSED"),
        ("t.py::test_x[1-3]", {"t.py::test_x[MouseButton.LEFT-MouseButton.RIGHT]": "PASSED"}, "PASSED"),
        ("t.py::test_x[a b]", {"t.py::test_x[a  b]": "PASSED"}, "PASSED"),
        ("t.py::test_x[a]", {"t.py::test_x[a]": "FAILED", "t.py::test_x[a] b]": "PASSED"}, "FAILED"),
        ("t.py::test_x[case-1]", {"t.py::test_x[case-1-extended]": "PASSED"}, None),
        ("handles foo] gracefully", {"handles foo] gracefully and more": "PASSED"}, None),
        ("t.py::test_x", {"t.py::test_xy": "PASSED"}, None),
    ],
)
def test_the_name_in_the_row_finds_its_tests(expected: str, found: dict[str, str], status: str | None) -> None:
    assert match_names([expected], found).get(expected) == status
