"""Slurm's time limits."""

import re

from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.config.walltime import PATTERN, UNLIMITED, minutes


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
    assert [minutes(text) for text in ("", "six", "1:2:3:4", "-1", "1-")] == [None] * 5


@given(st.text(alphabet="0123456789:- UNLIMTED", max_size=12))
def test_what_the_pattern_accepts_has_minutes(text: str) -> None:
    assert (minutes(text) is not None) == (re.search(PATTERN, text.strip()) is not None)
