"""Lines of /proc/PID/stat."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.proc_stat import ABSENT, ProcessStat, parse_stat

TAIL = "4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 999 7 18446744073709551615 " + "0 " * 24 + "140727 0"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("30001 (bash) S 30000 30001 30002 0 -1", ProcessStat("bash", "S", 30000, 30001, 30002)),
        ("30001 (a (b) c) R 7) R 1 30001", ProcessStat("a (b) c) R 7", "R", 1, 30001)),
        ("1 (two words) S 0 1 1", ProcessStat("two words", "S", 0, 1, 1)),
        ("7 (a\nb) Z 1 7 7", ProcessStat("a\nb", "Z", 1, 7, 7)),
        (b"7 (\xff) T 1", ProcessStat("�", "T", 1)),
        (f"7 (x) S 1 2 3 0 -1 {TAIL} 42 0", ProcessStat("x", "S", 1, 2, 3, 4194560, 12345, 0)),
    ],
)
def test_reads_a_line(text: str | bytes, found: ProcessStat) -> None:
    assert parse_stat(text) == found


def test_reads_this_process() -> None:
    found = parse_stat(Path("/proc/self/stat").read_bytes())
    assert (found.parent, found.group, found.session) == (os.getppid(), os.getpgrp(), os.getsid(0))
    assert found.env_end > 0
    assert not found.is_dead
    assert not found.is_loading


@pytest.mark.parametrize(
    "text",
    ["", "30001", "30001 (bash", "30001 (bash) S", "30001 (bash) S -1 2", "1 (x) S ² 1", "1 (x) SS 1 2", "1 (x) S 1 a"],
)
def test_refuses_other_text(text: str) -> None:
    with pytest.raises(ValueError, match="not a line of /proc/PID/stat"):
        parse_stat(text)


def test_refuses_a_long_line() -> None:
    with pytest.raises(ValueError, match="not a line of /proc/PID/stat"):
        parse_stat("1 (x) S 1 " + "1 " * 10_000)


@pytest.mark.parametrize(
    ("found", "is_dead", "is_loading"),
    [
        (ProcessStat("x", "Z", 1, env_end=0, flags=0), True, False),
        (ProcessStat("x", "S", 1, env_end=0, flags=0), False, True),
        (ProcessStat("kthreadd", "S", 0, env_end=0, flags=0x00208040), False, False),
        (ProcessStat("x", "S", 1), False, False),
    ],
)
def test_tells_the_dead_and_those_that_load(found: ProcessStat, *, is_dead: bool, is_loading: bool) -> None:
    assert (found.is_dead, found.is_loading) == (is_dead, is_loading)


@given(st.text())
def test_any_text_is_a_process_or_refused(text: str) -> None:
    try:
        found = parse_stat(text)
    except ValueError:
        return
    assert found.parent >= 0
    assert found.group >= ABSENT


@given(st.text(max_size=15), st.integers(0, 2**22), st.integers(0, 2**22))
def test_any_name_is_read_back(name: str, parent: int, group: int) -> None:
    assert parse_stat(f"7 ({name}) S {parent} {group}") == ProcessStat(name, "S", parent, group)
