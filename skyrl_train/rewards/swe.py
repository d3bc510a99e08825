"""SWE-bench's reward: each test of FAIL_TO_PASS and PASS_TO_PASS must pass; the others do not count."""

import re

from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable, UnscorableReason
from skyrl_train.contracts.rewards.suite_run import SuiteRun, obstacle_of
from skyrl_train.contracts.typed import FormatError, parse_object

PASSES = frozenset({"PASSED", "XFAIL"})
"""Statuses that count as passed, as in SWE-bench's grading."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m|\r")
# "PASSED tests/test_a.py::TestB::test_c[x - y]", "FAILED tests/test_a.py::test_b - assert 1 == 2"
_PYTEST = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S.*)$", re.MULTILINE)
# "test_a (module.Class) ... ok", "test_a (module.Class.test_a) ... FAIL"
_UNITTEST = re.compile(
    r"^(test\w* \([\w.]+\))(?:\n.*?)?? \.\.\. (ok|FAIL|ERROR|expected failure|skipped\b.*)$", re.MULTILINE
)
_WORDS = {"ok": "PASSED", "FAIL": "FAILED", "ERROR": "ERROR", "expected failure": "XFAIL"}


def found_in(output: str, expected: frozenset[str]) -> dict[str, str]:
    """The status of each expected test in the output, by pytest's or unittest's names. The last one counts."""
    text = _COLOUR.sub("", output)
    found = {match[1]: _WORDS.get(match[2], "SKIPPED") for match in _UNITTEST.finditer(text)}
    for match in _PYTEST.finditer(text):
        # a name may contain " - ": pytest's message begins at the last one after which an expected name remains
        name = match[2].rstrip()
        while name not in expected and " - " in name:
            name = name.rpartition(" - ")[0]
        found[name] = match[1]
    return {name: status for name, status in found.items() if name in expected}


def score_swe_run(run: SuiteRun, expected_json: str) -> Score:
    """1 or 0 if the tests gave results, else the reason why not."""
    expected = _expected(expected_json)
    if isinstance(expected, Unscorable):
        return expected
    found = found_in(run.output, expected)
    obstacle = obstacle_of(run, spoke=bool(found))
    if obstacle is not None:
        return obstacle
    wrong = sorted(name for name in expected if found.get(name) not in PASSES)
    if wrong:
        status = found.get(wrong[0], "not in the output")
        return Scored(0.0, f"{len(wrong)} of {len(expected)} tests do not pass; {wrong[0]} is {status}")
    return Scored(1.0, f"all {len(expected)} tests pass")


def _expected(expected_json: str) -> frozenset[str] | Unscorable:
    try:
        found = frozenset(parse_object(expected_json))
    except FormatError as error:
        return Unscorable(UnscorableReason.EXPECTATION_UNREADABLE, str(error))
    return found or Unscorable(UnscorableReason.EXPECTATION_UNREADABLE, "it names no tests")
