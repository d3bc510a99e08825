"""SWE-bench's reward: each test of FAIL_TO_PASS and PASS_TO_PASS must pass, whatever the others do."""

import re

from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable, UnscorableReason
from skyrl_train.contracts.rewards.suite_run import SuiteRun, obstacle_of
from skyrl_train.contracts.typed import FormatError, parse_object

PASSES = frozenset({"PASSED", "XFAIL"})
"""Statuses that count as passed, as in SWE-bench's own grading."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m|\r")
# "PASSED tests/test_a.py::TestB::test_c[x - y]", "FAILED tests/test_a.py::test_b - assert 1 == 2"
_PYTEST = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S.*)$", re.MULTILINE)
# "test_a (module.Class) ... ok", "test_a (module.Class.test_a) ... FAIL"
_UNITTEST = re.compile(
    r"^(test\w* \([\w.]+\))(?:\n.*?)?? \.\.\. (ok|FAIL|ERROR|expected failure|skipped\b.*)$", re.MULTILINE
)
_WORDS = {"ok": "PASSED", "FAIL": "FAILED", "ERROR": "ERROR", "expected failure": "XFAIL"}


def found_in(output: str, wanted: frozenset[str]) -> dict[str, str]:
    """The status of each wanted test that the output names, under pytest's or unittest's own names. The last one counts."""
    text = _COLOUR.sub("", output)
    found = {match[1]: _WORDS.get(match[2], "SKIPPED") for match in _UNITTEST.finditer(text)}
    for match in _PYTEST.finditer(text):
        # a name may hold " - " itself: what follows the last one that leaves a wanted name is pytest's message
        name = match[2].rstrip()
        while name not in wanted and " - " in name:
            name = name.rpartition(" - ")[0]
        found[name] = match[1]
    return {name: status for name, status in found.items() if name in wanted}


def score_swe_run(run: SuiteRun, expected_json: str) -> Score:
    """1 or 0 where the tests spoke, and the reason where they could not."""
    wanted = _wanted(expected_json)
    if isinstance(wanted, Unscorable):
        return wanted
    found = found_in(run.output, wanted)
    obstacle = obstacle_of(run, spoke=bool(found))
    if obstacle is not None:
        return obstacle
    wrong = sorted(name for name in wanted if found.get(name) not in PASSES)
    if wrong:
        status = found.get(wrong[0], "not in the output")
        return Scored(0.0, f"{len(wrong)} of {len(wanted)} tests do not pass; {wrong[0]} is {status}")
    return Scored(1.0, f"all {len(wanted)} tests pass")


def _wanted(expected_json: str) -> frozenset[str] | Unscorable:
    try:
        found = frozenset(parse_object(expected_json))
    except FormatError as error:
        return Unscorable(UnscorableReason.EXPECTATION_UNREADABLE, str(error))
    return found or Unscorable(UnscorableReason.EXPECTATION_UNREADABLE, "it names no test")
