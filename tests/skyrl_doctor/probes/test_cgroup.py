"""The limits of control groups."""

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.cgroup import Cgroup, Level
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.probes.cgroup import cgroup
from skyrl_doctor.probes.host import host
from support import recorded

CLEAN = recorded("clean_gpu_node")
JOB = "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711"
MOUNT = "/sys/fs/cgroup"


def look(machine: Machine) -> object:
    return cgroup.look(machine, host.look(machine))


def test_reads_version_2() -> None:
    assert look(CLEAN) == Cgroup(memory=(Level(JOB, 137438953472, 2147483648),))
    assert look(recorded("few_tasks_in_cgroup")) == Cgroup(
        memory=(Level(JOB, 137438953472, 2147483648),), tasks=(Level(JOB, 256, 41),)
    )


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
    with pytest.raises(CouldNotLook, match="number was wanted"):
        look(CLEAN.but({f"read {path}": ["unlimited"]}))


def test_groups_that_are_not_mounted_are_not_looked() -> None:
    with pytest.raises(CouldNotLook, match="/sys/fs/cgroup: no such file"):
        look(CLEAN.but({f"stat {MOUNT}": {"absent": MOUNT}}))


@pytest.mark.parametrize("text", [[""], ["garbage"]])
def test_garbage_is_not_looked(text: list[str]) -> None:
    with pytest.raises(CouldNotLook, match=r"^/proc/self/cgroup: "):
        look(CLEAN.but({"read /proc/self/cgroup": text}))
