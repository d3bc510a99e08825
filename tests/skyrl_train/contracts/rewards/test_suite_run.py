"""A zero is only given where the tests spoke."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.rewards.score import Scored, Unscorable, UnscorableReason
from skyrl_train.contracts.rewards.suite_run import SuiteRun, score_run

SUMMARY = "=== short test summary info ===\nPASSED r2e_tests/test_1.py::test_a\n"
FAILED = SUMMARY + "FAILED r2e_tests/test_1.py::test_b - assert 0\n=== 1 failed, 1 passed ==="
PASSED = SUMMARY + "PASSED r2e_tests/test_1.py::test_b\n=== 2 passed ==="
EXPECTED = '{"test_a": "PASSED", "test_b": "PASSED"}'
RUN = SuiteRun(output=PASSED, exit_code=0)


def reason_of(run: SuiteRun, expected: str = EXPECTED) -> tuple[UnscorableReason, str]:
    score = score_run(run, expected)
    assert isinstance(score, Unscorable)
    return score.reason, score.detail


def test_one_where_all_is_as_expected() -> None:
    assert score_run(RUN, EXPECTED) == Scored(1.0, "all 2 tests as expected")
    assert score_run(replace(RUN, exit_code=1), EXPECTED) == Scored(1.0, "all 2 tests as expected")


def test_zero_where_a_test_differs() -> None:
    assert score_run(SuiteRun(output=FAILED, exit_code=1), EXPECTED) == Scored(0.0, "test_b is FAILED, expected PASSED")


@pytest.mark.parametrize(
    ("output", "exit_code"),
    [
        ("ImportError while loading conftest '/testbed/conftest.py'.", 4),
        ("INTERNALERROR> KeyError", 3),
        ("collected 0 items\n", 5),
        ("Fatal Python error: Segmentation fault", 139),
        ("===== test session starts =====\n", 1),
    ],
)
def test_zero_where_the_change_broke_the_tests_themselves(output: str, exit_code: int) -> None:
    score = score_run(SuiteRun(output=output, exit_code=exit_code), EXPECTED)
    assert score == Scored(0.0, "0 tests in the summary, 2 expected")


@pytest.mark.parametrize(
    ("run", "reason", "detail"),
    [
        (replace(RUN, failure="connection refused"), UnscorableReason.SANDBOX_FAILED, "connection refused"),
        (replace(RUN, exit_code=None), UnscorableReason.SANDBOX_FAILED, "no exit code"),
        (replace(RUN, exit_code=-1), UnscorableReason.SANDBOX_FAILED, "exit code -1"),
        (
            replace(RUN, timed_out=True, exit_code=-1),
            UnscorableReason.TESTS_TIMED_OUT,
            "the tests timed out",
        ),
        (
            replace(RUN, exit_code=137),
            UnscorableReason.TESTS_KILLED,
            "SIGKILL, which the kernel sends when memory runs out",
        ),
        (replace(RUN, truncated=True), UnscorableReason.OUTPUT_TRUNCATED, "part of the output was lost"),
        (replace(RUN, output=" \r\n"), UnscorableReason.OUTPUT_MISSING, "no output, exit code 0"),
        (
            SuiteRun(output="\nERROR: file or directory not found: r2e_tests\r\n", exit_code=4),
            UnscorableReason.TESTS_MISSING,
            "r2e_tests is not in the sandbox",
        ),
        (
            SuiteRun(output="/testbed/.venv/bin/python: No module named pytest\n", exit_code=1),
            UnscorableReason.TESTS_NOT_STARTED,
            "/testbed/.venv/bin/python: No module named pytest",
        ),
        (
            SuiteRun(output="/root/run_tests.sh: line 1: .venv/bin/python: No such file or directory", exit_code=127),
            UnscorableReason.TESTS_NOT_STARTED,
            "the tests' command was not found",
        ),
    ],
)
def test_no_score_where_the_tests_could_not_speak(run: SuiteRun, reason: UnscorableReason, detail: str) -> None:
    assert reason_of(run) == (reason, detail)


@pytest.mark.parametrize("expected", ["", "null", "[]", '{"a": 1}', "{", "[" * 100_000, "{}"])
def test_no_score_without_an_expectation(expected: str) -> None:
    assert reason_of(RUN, expected)[0] is UnscorableReason.EXPECTATION_UNREADABLE


@given(st.builds(SuiteRun), st.text())
def test_whatever_comes_back_there_is_an_answer(run: SuiteRun, expected: str) -> None:
    score_run(run, expected)
    score_run(run, EXPECTED)


@given(st.builds(SuiteRun, exit_code=st.none() | st.integers(max_value=-1)))
def test_a_failed_transport_is_never_a_zero(run: SuiteRun) -> None:
    assert isinstance(score_run(run, EXPECTED), Unscorable)
