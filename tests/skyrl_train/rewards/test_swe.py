"""SWE-bench's reward."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.rewards.score import Scored, Unscorable, UnscorableReason
from skyrl_train.contracts.rewards.suite_run import SuiteRun
from skyrl_train.rewards.swe import found_in, score_swe_run

NAMES = ("tests/test_a.py::test_b", "tests/test_a.py::TestC::test_d[x - y]", "test_e (app.tests.F)")
EXPECTED = json.dumps(dict.fromkeys(NAMES, "PASSED"))
GOOD = (
    "== short test summary info ==\n\x1b[32mPASSED\x1b[0m tests/test_a.py::test_b\r\n"
    "XFAIL tests/test_a.py::TestC::test_d[x - y] - known\nFAILED tests/test_a.py::other - assert 0\n"
    "test_e (app.tests.F) ... ok\n"
)
RUN = SuiteRun(output=GOOD, exit_code=1)


def test_what_is_named_must_pass_and_nothing_else() -> None:
    assert score_swe_run(RUN, EXPECTED) == Scored(1.0, "all 3 tests pass")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("... ok", "... FAIL", "1 of 3 tests do not pass; test_e (app.tests.F) is FAILED"),
        ("... ok", "... skipped 'no'", "1 of 3 tests do not pass; test_e (app.tests.F) is SKIPPED"),
        ("test_a.py::test_b", "test_a.py::test_B", f"1 of 3 tests do not pass; {NAMES[0]} is not in the output"),
        ("XFAIL", "FAILED", f"1 of 3 tests do not pass; {NAMES[1]} is FAILED"),
    ],
)
def test_zero_where_one_does_not(old: str, new: str, why: str) -> None:
    assert score_swe_run(replace(RUN, output=GOOD.replace(old, new)), EXPECTED) == Scored(0.0, why)


def test_names_hold_what_separates_names() -> None:
    wanted = frozenset({"t::a - b", "t::a"})
    assert found_in("FAILED t::a - b - assert\nPASSED t::a\n", wanted) == {"t::a - b": "FAILED", "t::a": "PASSED"}


def test_no_score_where_the_tests_could_not_speak() -> None:
    for run, reason in (
        (replace(RUN, timed_out=True), UnscorableReason.TESTS_TIMED_OUT),
        (replace(RUN, failure="connection refused"), UnscorableReason.SANDBOX_FAILED),
        (SuiteRun(output="ERROR: file or directory not found: x", exit_code=4), UnscorableReason.TESTS_MISSING),
        (SuiteRun(output="", exit_code=0), UnscorableReason.OUTPUT_MISSING),
    ):
        score = score_swe_run(run, EXPECTED)
        assert isinstance(score, Unscorable)
        assert score.reason is reason
    broken = score_swe_run(RUN, "[]")
    assert isinstance(broken, Unscorable)
    assert broken.reason is UnscorableReason.EXPECTATION_UNREADABLE


@given(st.text(st.sampled_from("PASSEDFIL test_a(.) ...ok:-\n\x1b[m") | st.characters()), st.text())
def test_whatever_comes_back_there_is_an_answer(output: str, expected: str) -> None:
    score_swe_run(SuiteRun(output=output, exit_code=0), expected)
    score_swe_run(SuiteRun(output=output, exit_code=0), EXPECTED)
