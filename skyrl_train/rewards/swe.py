"""SWE-bench's reward: each test of FAIL_TO_PASS and PASS_TO_PASS must pass; the others do not count."""

from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable, UnscorableReason
from skyrl_train.contracts.rewards.suite_run import SuiteRun, obstacle_of
from skyrl_train.contracts.typed import FormatError, parse_object
from skyrl_train.rewards.output_statuses import readable_lines, statuses_in
from skyrl_train.rewards.swe_names import PASSES, match_names
from skyrl_train.rewards.swe_package import package_reader


def found_in(output: str, expected: frozenset[str], repo: str = "") -> dict[str, str]:
    """The status of each expected test in the output. What SWE-bench's package reads counts before what we read."""
    read = package_reader(repo)
    theirs = {} if read is None else read("\n".join(readable_lines(output)))
    return match_names(expected, {**statuses_in(output, expected), **theirs})


def score_swe_run(run: SuiteRun, expected_json: str, repo: str = "") -> Score:
    """1 or 0 if the tests gave results, else the reason why not. `repo`: whose tests they are, if it is known."""
    expected = _expected(expected_json)
    if isinstance(expected, Unscorable):
        return expected
    found = found_in(run.output, expected, repo)
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
