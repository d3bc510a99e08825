"""Scores a run of the tests: 1 or 0 if they gave results, Unscorable if not."""

import re
from dataclasses import dataclass

from skyrl_train.contracts.rewards.r2e import SUMMARY, comparable, mismatch, statuses
from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable, UnscorableReason
from skyrl_train.contracts.typed import FormatError, parse_object


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """The result of a test run. `failure` is an error of the transport; `truncated` means that output was lost."""

    output: str
    exit_code: int | None
    timed_out: bool = False
    truncated: bool = False
    failure: str = ""


KILLED = {137: "SIGKILL, which the kernel sends when memory runs out", 143: "SIGTERM"}
NOT_STARTED = {126: "the tests' command cannot be executed", 127: "the tests' command was not found"}

# "ERROR: file or directory not found: r2e_tests"
_TESTS_MISSING = re.compile(r"^ERROR: file or directory not found: (.+)$", re.MULTILINE)
# "/testbed/.venv/bin/python: No module named pytest"
_NO_PYTEST = re.compile(r"^.*: No module named pytest$", re.MULTILINE)


def score_run(run: SuiteRun, expected_json: str) -> Score:
    """The reward of R2E-Gym, or the reason why there is none. Missing tests do not score 0 (IMG006)."""
    expected = expectation(expected_json)
    if isinstance(expected, Unscorable):
        return expected
    obstacle = obstacle_of(run, spoke=SUMMARY in run.output)
    if obstacle is not None:
        return obstacle
    wrong = mismatch(comparable(statuses(run.output)), expected)
    return Scored(0.0, wrong) if wrong else Scored(1.0, f"all {len(expected)} tests as expected")


def expectation(text: str) -> dict[str, str] | Unscorable:
    """The statuses that a task expects, under the compared names."""
    try:
        found = parse_object(text)
        expected = {name: found.text(name) for name in found}
    except FormatError as error:
        return Unscorable(UnscorableReason.EXPECTATION_UNREADABLE, str(error))
    if not expected:
        return Unscorable(
            UnscorableReason.EXPECTATION_UNREADABLE, "no expected tests: a run without tests would score 1"
        )
    return comparable(expected)


def obstacle_of(run: SuiteRun, *, spoke: bool) -> Unscorable | None:
    """Why the tests gave no results, or None. `spoke`: their output has results."""
    reason = UnscorableReason
    if run.failure or run.exit_code is None:
        return Unscorable(reason.SANDBOX_FAILED, run.failure or "no exit code")
    if run.timed_out:
        return Unscorable(reason.TESTS_TIMED_OUT, "the tests timed out")
    if run.exit_code < 0:  # the agent server's code for a failed transport
        return Unscorable(reason.SANDBOX_FAILED, f"exit code {run.exit_code}")
    if run.exit_code in KILLED:
        return Unscorable(reason.TESTS_KILLED, KILLED[run.exit_code])
    if run.truncated:
        return Unscorable(reason.OUTPUT_TRUNCATED, "part of the output was lost")
    if not run.output.strip():
        return Unscorable(reason.OUTPUT_MISSING, f"no output, exit code {run.exit_code}")
    return None if spoke else _not_run(run)


def _not_run(run: SuiteRun) -> Unscorable | None:
    """Why pytest wrote no summary; None if the model's change may be the cause, which scores 0."""
    if missing := _TESTS_MISSING.search(run.output):
        return Unscorable(UnscorableReason.TESTS_MISSING, f"{missing[1].strip()} is not in the sandbox")
    if unable := _NO_PYTEST.search(run.output):
        return Unscorable(UnscorableReason.TESTS_NOT_STARTED, unable[0].strip())
    if run.exit_code in NOT_STARTED:
        return Unscorable(UnscorableReason.TESTS_NOT_STARTED, NOT_STARTED[run.exit_code])
    return None
