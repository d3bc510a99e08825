"""The lines that test programs print, by the formats of SWE-bench and SWE-smith."""

import pytest

from skyrl_train.rewards.output_statuses import statuses_in


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ("tests/test_a.py::test_b PASSED                  [ 50%]", {"tests/test_a.py::test_b": "PASSED"}),
        ("tests/test_a.py::test_b[x y] FAILED", {"tests/test_a.py::test_b[x y]": "FAILED"}),
        ("tests/test_a.py::test_b SKIPPED (no network) [100%]", {"tests/test_a.py::test_b": "SKIPPED"}),
        ("[gw1] [ 12%] PASSED tests/test_a.py::test_b", {"tests/test_a.py::test_b": "PASSED"}),
        ("SKIPPED [23] tests/test_b.py:4: unsupported platform", {}),
        ("PASSED [100%]", {"[100%]": "PASSED"}),
        ("PASSED\nFAILED", {}),
        ("the tests PASSED", {}),
        ("test_solve ok\ntest_roots F\ntest_series E", {"test_solve": "PASSED", "test_roots": "FAILED", "test_series": "ERROR"}),
        ("--- PASS: TestRoute (0.00s)\n    --- FAIL: TestRoute/one (0.01s)", {"TestRoute": "PASSED", "TestRoute/one": "FAILED"}),
        ("test_e (app.tests.F) ... ok", {"test_e (app.tests.F)": "PASSED"}),
        ("test_e (app.tests.F) ... unexpected success\nok", {"test_e (app.tests.F)": "XPASS"}),
        ("test_e (app.F)\nA view. ... FAIL", {"test_e (app.F)": "FAILED", "A view.": "FAILED"}),
        ("test_e (app.F) ... Internal Server Error: /a/\nok", {"test_e (app.F)": "PASSED"}),
        ("test_e (app.F) ... System check identified no issues (0 silenced).\n\nok", {"test_e (app.F)": "PASSED"}),
        ("test_e (app.F) ... Creating table x\nFAIL", {"test_e (app.F)": "FAILED"}),
        ("test_e (app.F) ... FAIL\nok", {"test_e (app.F)": "FAILED"}),
        (
            "Applying sites.0002_unique...test_e (app.F) ... ok",
            {"Applying sites.0002_unique...test_e (app.F)": "PASSED", "test_e (app.F)": "PASSED"},
        ),
    ],
)  # fmt: skip
def test_a_line_gives_the_status_of_its_test(output: str, found: dict[str, str]) -> None:
    assert statuses_in(output, ()) == found


def test_long_lines_are_cut() -> None:
    """Each of these took minutes with a pattern that goes back and forth."""
    for piece in ("::", "[", " - ", " (", " PASSED ", " ... ", " ... ok"):
        statuses_in("PASSED a" + piece * 300_000 + "\ntests/a.py::b" + piece * 300_000, ())
