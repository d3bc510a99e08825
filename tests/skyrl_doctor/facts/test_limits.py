"""/proc/self/limits and the counts of ps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.limits import Limit, Limits, parse_limits, parse_threads

TEXT = """Limit                     Soft Limit           Hard Limit           Units
Max processes             4096                 unlimited            processes
Max open files            1024                 524288               files
Max nice priority         0                    0
"""


def test_reads_both_limits() -> None:
    assert parse_limits(TEXT, threads=7) == Limits(
        processes=Limit(4096, None), open_files=Limit(1024, 524288), threads=7
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Max processes 1 1 processes",
        TEXT.replace("4096", "lots"),
        TEXT.replace("4096", "-1"),
        TEXT.replace("4096", "٤٠٩٦"),
        TEXT.replace("4096                 unlimited", "4096"),
        TEXT + "Max processes             1                    1                    processes \n",
    ],
)
def test_what_reads_otherwise_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="Max"):
        parse_limits(text)


@given(st.text() | st.text(alphabet="Max procesopnfil 0123\n\t").map(lambda text: TEXT + text))
def test_no_garbage_reads_as_healthy(text: str) -> None:
    try:
        found = parse_limits(text)
    except ValueError:
        return
    assert found == Limits(processes=Limit(4096, None), open_files=Limit(1024, 524288))


def test_adds_up_threads() -> None:
    assert parse_threads("   1\n  12\n") == 13


@pytest.mark.parametrize("text", ["", "\n", "NLWP\n1\n", "1.5", "-1", "²"])
def test_what_is_no_list_of_counts_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no list"):
        parse_threads(text)


@given(st.text())
def test_no_count_is_negative(text: str) -> None:
    try:
        assert parse_threads(text) >= 0
    except ValueError:
        return
