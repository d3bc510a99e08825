"""Slurm's time limits."""

import re

from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.config.walltime import PATTERN, UNLIMITED, minutes, walltime_violations


def test_every_form_of_sbatch() -> None:
    assert [minutes(text) for text in ("90", "1:30", "6:00:00", "1-12", "1-12:30", "2-0:0:30", "UNLIMITED")] == [
        90,
        1.5,
        360,
        2160,
        2190,
        2880.5,
        UNLIMITED,
    ]
    assert [minutes(text) for text in ("", "six", "1:2:3:4", "-2", "60:", "60:-10", "-60:10", "-0:-0:-0")] == [None] * 8


def test_the_forms_of_slurms_own_tests() -> None:
    assert [minutes(text) for text in ("-1", "INFINITE", "infinite", "UNLIMITED", "unlimited")] == [UNLIMITED] * 5
    assert [minutes(text) for text in ("60:150", "0:60:0", "365-1:60:15", "1-")] == [62.5, 60, 525720.25, 1440]
    assert [minutes(text) for text in (" 0:0:0 ", " 60", "60\n", "\u0663")] == [None] * 4


def test_a_limit_of_0_is_no_limit() -> None:
    assert [*walltime_violations(trainer="6:00:00", runtime="0")] == []
    assert [each.key for each in walltime_violations(trainer="0", runtime="6:00:00")] == ["slurm.runtime_time_limit"]


@given(st.text(alphabet="0123456789:- UNLIMTED", max_size=12))
def test_what_the_pattern_accepts_has_minutes(text: str) -> None:
    assert (minutes(text) is not None) == (re.fullmatch(PATTERN, text) is not None)
