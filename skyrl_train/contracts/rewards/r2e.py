"""R2E-Gym's reward: the statuses in pytest's short summary must be exactly the expected ones.

This follows the published parser exactly, quirks included, because the expectations in the data set were made with it.
`score_run` handles what the parser cannot see, such as tests that never ran.
"""

import re
from collections.abc import Mapping

SUMMARY = "short test summary info"

# "\x1b[31mFAILED\x1b[0m r2e_tests/test_1.py::\x1b[1mtest_a\x1b[0m - assert 1 == 2\r"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m|\r")
# the published code removes only colours with one number from names
_KEY_COLOUR = re.compile(r"\x1b\[\d+m")
_STATUSES = ("PASSED", "FAILED", "ERROR")


def statuses(output: str) -> dict[str, str]:
    """The status of each test in the first short summary; empty without a summary."""
    sections = _COLOUR.sub("", output).split(SUMMARY)
    if len(sections) == 1:
        return {}
    found: dict[str, str] = {}
    # only the text between the first and a second summary counts
    for line in sections[1].strip().split("\n"):
        # anywhere in the line, and in this order: a PASSED in a test's name overrides an earlier FAILED
        status = next((status for status in _STATUSES if status in line), None)
        if status is None:
            continue
        name = ".".join(line.split("::")[1:])  # empty if the line names only a file
        found[name if status == "PASSED" else name.split(" - ")[0]] = status
    return found


def comparable(found: Mapping[str, str]) -> dict[str, str]:
    """The statuses under the compared names. If two names become equal, the last in order of name counts."""
    plain = {_KEY_COLOUR.sub("", name): status for name, status in found.items()}
    return {name.split(" - ")[0]: plain[name] for name in sorted(plain)}


def mismatch(found: Mapping[str, str], expected: Mapping[str, str]) -> str | None:
    """Why the reward is 0, or None if it is 1. Both arguments must be `comparable`."""
    if len(found) != len(expected):
        return f"{len(found)} tests in the summary, {len(expected)} expected"
    for name, status in found.items():
        # a line without a test's name counts above, but not here
        if name and status != expected.get(name):
            return f"{name} is {status}, expected {expected.get(name, 'no such test')}"
    return None
