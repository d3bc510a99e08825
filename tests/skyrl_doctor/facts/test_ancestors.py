"""Lines of /proc/PID."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.ancestors import parse_argv, parse_parent


@pytest.mark.parametrize(
    ("stat", "parent"),
    [
        ("30001 (bash) S 30000 30001 30001 0 -1", 30000),
        ("30001 (a (b) c) R 7) R 1 30001", 1),
        ("1 (systemd) S 0 1 1", 0),
    ],
)
def test_finds_the_parent(stat: str, parent: int) -> None:
    assert parse_parent(stat) == parent


@pytest.mark.parametrize("stat", ["", "30001", "30001 (bash", "30001 (bash) S", "30001 (bash) S -1 2", "1 (x) S ² 1"])
def test_what_is_no_such_line_is_refused(stat: str) -> None:
    with pytest.raises(ValueError, match="no line of"):
        parse_parent(stat)


@given(st.text())
def test_no_text_gives_a_negative_parent(stat: str) -> None:
    try:
        assert parse_parent(stat) >= 0
    except ValueError:
        return


def test_splits_a_command_line() -> None:
    assert parse_argv("uv\0run\0\0python\0") == ("uv", "run", "", "python")
    assert parse_argv("") == ()
    assert parse_argv("sshd: trainer@pts/0") == ("sshd: trainer@pts/0",)


@given(st.text())
def test_a_command_line_stays_short(text: str) -> None:
    argv = parse_argv(text * 50)
    assert len(argv) <= 64
    assert all(len(argument) <= 200 for argument in argv)
