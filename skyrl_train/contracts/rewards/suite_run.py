"""From a run of the tests to a score: 1 or 0 where the tests spoke, and Unscorable where they could not."""

import re
from dataclasses import dataclass

from skyrl_train.contracts.rewards.r2e import SUMMARY, comparable, mismatch, statuses
from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable, UnscorableReason
from skyrl_train.contracts.typed import FormatError, parse_object


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """What came back from the sandbox. `failure` is the transport's own complaint, `truncated` a lost part of output."""

    output: str
    exit_code: int | None
    timed_out: bool = False
    truncated: bool = False
    failure: str = ""


KILLED = {137: "SIGKILL, as the kernel does when memory runs out", 143: "SIGTERM"}
NOT_STARTED = {126: "the tests' command cannot be executed", 127: "the tests' command was not found"}

# "ERROR: file or directory not found: r2e_tests"
_TESTS_MISSING = re.compile(r"^ERROR: file or directory not found: (.+)$", re.MULTILINE)
# "/testbed/.venv/bin/python: No module named pytest"
_NO_PYTEST = re.compile(r"^.*: No module named pytest$", re.MULTILINE)


def score_run(run: SuiteRun, expected_json: str) -> Score:
    """The reward of R2E-Gym, or the reason why there is none. Missing tests are no zero (IMG006)."""
    expected = expectation(expected_json)
    if isinstance(expected, Unscorable):
        return expected
    obstacle = obstacle_of(run, spoke=SUMMARY in run.output)
    if obstacle is not None:
        return obstacle
    wrong = mismatch(comparable(statuses(run.output)), expected)
    return Scored(0.0, wrong) if wrong else Scored(1.0, f"all {len(expected)} tests as expected")


def expectation(text: str) -> dict[str, str] | Unscorable:
    """The statuses that a task expects, under the names that are compared."""
    try:
        found = parse_object(text)
        expected = {name: found.text(name) for name in found}
    except FormatError as error:
        return Unscorable(UnscorableReason.EXPECTATION_UNREADABLE, str(error))
    if not expected:
        return Unscorable(UnscorableReason.EXPECTATION_UNREADABLE, "no tests expected: a run of no tests would score 1")
    return comparable(expected)


def obstacle_of(run: SuiteRun, *, spoke: bool) -> Unscorable | None:
    """What kept the tests from speaking. `spoke`: their output holds results."""
    reason = UnscorableReason
    if run.failure or run.exit_code is None:
        return Unscorable(reason.SANDBOX_FAILED, run.failure or "no exit code")
    if run.timed_out:
        return Unscorable(reason.TESTS_TIMED_OUT, "the tests did not end within their limit")
    if run.exit_code < 0:  # what the agent server says when the transport failed
        return Unscorable(reason.SANDBOX_FAILED, f"exit code {run.exit_code}")
    if run.exit_code in KILLED:
        return Unscorable(reason.TESTS_KILLED, KILLED[run.exit_code])
    if run.truncated:
        return Unscorable(reason.OUTPUT_TRUNCATED, "a part of the output is lost")
    if not run.output.strip():
        return Unscorable(reason.OUTPUT_MISSING, f"no output, exit code {run.exit_code}")
    return None if spoke else _not_run(run)


def _not_run(run: SuiteRun) -> Unscorable | None:
    """Why pytest wrote no summary, unless the model's change is why: a broken conftest.py earns its zero."""
    if missing := _TESTS_MISSING.search(run.output):
        return Unscorable(UnscorableReason.TESTS_MISSING, f"{missing[1].strip()} is not in the sandbox")
    if unable := _NO_PYTEST.search(run.output):
        return Unscorable(UnscorableReason.TESTS_NOT_STARTED, unable[0].strip())
    if run.exit_code in NOT_STARTED:
        return Unscorable(UnscorableReason.TESTS_NOT_STARTED, NOT_STARTED[run.exit_code])
    return None
