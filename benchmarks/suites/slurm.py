"""Slurm's own tests of time limits, and the jobs in its documentation, as judges of what we read of Slurm."""

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.suites.cases import Case
from skyrl_train.config.walltime import UNLIMITED, minutes

_ASSERT = re.compile(r'ck_assert_int_eq\(time_str2secs\("([^"]*)"\), \(?(?:int\))?\)?([^;]*)\);')
# The same rules, written by us: no number, a sign, a space and an empty part are refused.
_OURS = {
    "": None, "x": None, "-1": UNLIMITED, "Unlimited": UNLIMITED, "InFinite": UNLIMITED, "0": 0.0, "90": 90.0,
    "90:30": 90.5, "60:": None, ":30": None, "1:-5": None, "1:2:3:4": None, " 5": None, "5 ": None, "1-0": 1440.0,
    "1-1:30": 1530.0, "0-0:90:0": 90.0, "--5": None, "1-2-3": None, "1:61:0": 121.0, "5m": None, "1.5": None,
}  # fmt: skip


def own_times(_: Path) -> Iterator[Case]:
    """Limits by the rules of Slurm's time_str2secs."""
    for text, expected in _OURS.items():
        yield Case(repr(text), minutes(text), expected)


def times(checkout: Path) -> Iterator[Case]:
    """Slurm's unit tests of time_str2secs."""
    source = checkout / "testsuite/slurm_unit/common/parse_time-test.c"
    for text, wanted in _ASSERT.findall(source.read_text(encoding="utf-8")):
        if wanted == "NO_VAL":
            expected = None
        elif wanted == "INFINITE":
            expected = UNLIMITED
        else:
            expected = sum(_product(term) for term in wanted.split("+")) / 60
        yield Case(repr(text), minutes(text), expected)


def _product(term: str) -> int:
    result = 1
    for factor in term.split("*"):
        result *= int(factor)
    return result
