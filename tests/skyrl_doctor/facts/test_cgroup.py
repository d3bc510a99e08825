"""Control groups of both versions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.cgroup import (
    Cgroup,
    Level,
    Membership,
    directories,
    parse_count,
    parse_limit,
    parse_memberships,
)


def test_reads_both_versions() -> None:
    assert parse_memberships("9:name=systemd:/\n4:memory:/slurm/job_1\n3:cpu,cpuacct:/a:b\n0::/x (deleted)\n") == (
        Membership(("name=systemd",), "/"),
        Membership(("memory",), "/slurm/job_1"),
        Membership(("cpu", "cpuacct"), "/a:b"),
        Membership((), "/x"),
    )


@pytest.mark.parametrize("text", ["", "\n", "0:", "x::/", "0::relative", "4 memory /", "\x00"])
def test_what_is_no_such_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no line|empty"):
        parse_memberships(text)


@pytest.mark.parametrize(
    ("membership", "found"),
    [
        (Membership((), "/a/b"), ("/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup")),
        (Membership((), "/"), ("/sys/fs/cgroup",)),
        (Membership(("memory",), "/a"), ("/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory")),
        (Membership((), "/../job_1"), ("/sys/fs/cgroup",)),
    ],
)
def test_walks_up_to_the_mount(membership: Membership, found: tuple[str, ...]) -> None:
    assert directories(membership) == found


@pytest.mark.parametrize(
    ("text", "limit"),
    [("max\n", None), ("-1\n", None), ("9223372036854771712\n", None), ("0\n", 0), ("137438953472\n", 137438953472)],
)
def test_reads_a_limit(text: str, limit: int | None) -> None:
    assert parse_limit(text) == limit


@pytest.mark.parametrize("text", ["", "\n", "none", "1 2", "-2", "1.5", "²", "9" * 30])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="number was wanted"):
        parse_limit(text)


@given(st.text())
def test_no_garbage_reads_as_without_limit(text: str) -> None:
    try:
        limit = parse_limit(text)
    except ValueError:
        return
    assert limit is not None or text.strip() in ("max", "-1") or int(text) >= 1 << 62


@given(st.text())
def test_garbage_names_no_directory_outside(text: str) -> None:
    try:
        memberships = parse_memberships(text)
    except ValueError:
        return
    named = [directory for membership in memberships for directory in directories(membership)]
    assert all(directory.startswith("/sys/fs/cgroup") and ".." not in directory.split("/") for directory in named)


def test_counts_only_numbers() -> None:
    assert parse_count(" 41\n") == 41


def test_the_tightest_level_counts() -> None:
    outer, inner = Level("/outer", 100, 10), Level("/inner", 200, 150)
    assert Cgroup(memory=(inner, outer), tasks=(outer, inner)).least_memory == outer
    assert Cgroup(memory=(inner, outer), tasks=(outer, inner)).least_tasks == inner
    assert Cgroup().least_memory is None
    assert Cgroup().least_tasks is None
