"""Control groups of both versions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.cgroup import (
    Cgroup,
    Level,
    Membership,
    cgroup,
    directories,
    parse_count,
    parse_limit,
    parse_memberships,
)
from skyrl_doctor.facts.host import host
from skyrl_doctor.machine.base import Machine
from support import recorded


def test_reads_both_versions() -> None:
    assert parse_memberships("9:name=systemd:/\n4:memory:/slurm/job_1\n3:cpu,cpuacct:/a:b\n0::/x (deleted)\n") == (
        Membership(("name=systemd",), "/"),
        Membership(("memory",), "/slurm/job_1"),
        Membership(("cpu", "cpuacct"), "/a:b"),
        Membership((), "/x"),
    )


@pytest.mark.parametrize("text", ["", "\n", "0:", "x::/", "0::relative", "4 memory /", "\x00"])
def test_what_is_no_such_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a line|empty"):
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
    with pytest.raises(ValueError, match="expected a number"):
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


CLEAN = recorded("clean_gpu_node")
JOB = "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711"
MOUNT = "/sys/fs/cgroup"


def look(machine: Machine) -> object:
    return cgroup(machine, host(machine))


def test_reads_version_2() -> None:
    assert look(CLEAN) == Cgroup(memory=(Level(JOB, 137438953472, 2147483648),))
    assert look(recorded("few_tasks_in_cgroup")) == Cgroup(
        memory=(Level(JOB, 137438953472, 2147483648),), tasks=(Level(JOB, 256, 41),)
    )


@pytest.mark.parametrize(
    "job",
    [
        "system.slice/slurmstepd.scope/job_4711",
        "system.slice/gpu1_slurmstepd.scope/job_4711",  # several slurmd on one host
        "site.slice/gpu1_slurmstepd.scope/job_4711",  # CgroupSlice, since 25.11
        "system.slice/slurmstepd.scope/s0Q3XAHW5DPR00",  # since 26.05
    ],
)
@pytest.mark.parametrize("step", ["step_batch", "step_extern", "step_0"])
def test_the_limit_of_a_job_is_found_above_its_task(job: str, step: str) -> None:
    """As Slurm lays out version 2: the limit stands at the job, and the groups below it have none or the same."""
    at = f"{MOUNT}/{job}"
    groups = [at, f"{at}/{step}", f"{at}/{step}/user", f"{at}/{step}/user/task_0"]
    groups += [f"{MOUNT}/{job.rpartition('/')[0]}", f"{MOUNT}/{job.split('/')[0]}", MOUNT]
    answers: dict[str, object] = {"read /proc/self/cgroup": [f"0::/{job}/{step}/user/task_0", ""]}
    for group in groups:
        for name in ("memory.max", "memory.current", "pids.max", "pids.current"):
            answers[f"read {group}/{name}"] = {"absent": f"{group}/{name}"}
    answers |= {f"read {group}/memory.max": ["max", ""] for group in groups[1:-1]}
    answers |= {f"read {at}/memory.max": ["34359738368", ""], f"read {at}/memory.current": ["1073741824", ""]}
    assert look(CLEAN.but(answers)) == Cgroup(memory=(Level(at, 34359738368, 1073741824),))


def test_reads_version_1() -> None:
    memory = f"{MOUNT}/memory/slurm"
    machine = CLEAN.but(
        {
            "read /proc/self/cgroup": ["9:name=systemd:/", "8:pids:/", "4:memory:/slurm", ""],
            f"read {memory}/memory.limit_in_bytes": ["8589934592", ""],
            f"read {memory}/memory.usage_in_bytes": {"absent": f"{memory}/memory.usage_in_bytes"},
            f"read {MOUNT}/memory/memory.limit_in_bytes": ["9223372036854771712", ""],
            f"read {MOUNT}/pids/pids.max": {"absent": f"{MOUNT}/pids/pids.max"},
        }
    )
    assert look(machine) == Cgroup(memory=(Level(memory, 8589934592, None),))


def test_a_limit_that_cannot_be_read_is_not_looked() -> None:
    path = f"{JOB}/memory.max"
    with pytest.raises(CouldNotLook, match="Permission denied"):
        look(CLEAN.but({f"read {path}": {"unreadable": path, "why": "Permission denied"}}))
    with pytest.raises(CouldNotLook, match="expected a number"):
        look(CLEAN.but({f"read {path}": ["unlimited"]}))


def test_groups_that_are_not_mounted_are_not_looked() -> None:
    with pytest.raises(CouldNotLook, match="/sys/fs/cgroup: no such file"):
        look(CLEAN.but({f"stat {MOUNT}": {"absent": MOUNT}}))


@pytest.mark.parametrize("text", [[""], ["garbage"]])
def test_garbage_is_not_looked(text: list[str]) -> None:
    with pytest.raises(CouldNotLook, match=r"^/proc/self/cgroup: "):
        look(CLEAN.but({"read /proc/self/cgroup": text}))
