"""Lists of CPUs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.cpus import parse_cpu_list


@pytest.mark.parametrize(("text", "count"), [("0\n", 1), ("0-15", 16), ("0-15,32-47\n", 32), ("0,2,4-5", 4)])
def test_counts_them(text: str, count: int) -> None:
    assert parse_cpu_list(text) == count


@pytest.mark.parametrize("text", ["", "\n", "0-", "-1", "5-2", "a", "0,,1", "0-999999", "²"])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="list of"):
        parse_cpu_list(text)


@given(st.text(alphabet="0123456789-,\n x") | st.text())
def test_a_count_is_never_absurd(text: str) -> None:
    try:
        assert 0 < parse_cpu_list(text) <= 65536
    except ValueError:
        return
