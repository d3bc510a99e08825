"""The memory of node and job."""

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.cgroup import Cgroup, Level
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.memory import Ceiling, HostMemory
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.probes.memory import memory
from support import recorded

CLEAN = recorded("clean_gpu_node")
NODE = Ceiling(263782400 * 1024, "the node's memory")
JOB = Level("/sys/fs/cgroup/job_4711", 8 << 30)


def look(machine: Machine, cgroup: Cgroup, **environ: str) -> object:
    return memory.look(machine, cgroup, Environ(environ))


def test_names_every_ceiling() -> None:
    assert look(CLEAN, Cgroup(memory=(JOB,)), SLURM_MEM_PER_NODE="131072") == HostMemory(
        available_bytes=251658240 * 1024,
        ceilings=(
            NODE,
            Ceiling(8 << 30, "the memory limit of /sys/fs/cgroup/job_4711"),
            Ceiling(128 << 30, "SLURM_MEM_PER_NODE=131072 (MiB)"),
        ),
        shm_free_bytes=134217728000,
    )


def test_ray_sees_the_limit_of_its_container_alone() -> None:
    container = Cgroup(memory=(Level("/sys/fs/cgroup", 4 << 30), JOB))
    assert look(CLEAN, container) == HostMemory(
        available_bytes=4 << 30,
        ceilings=(NODE, Ceiling(4 << 30, "the memory limit of /sys/fs/cgroup")),
        shm_free_bytes=134217728000,
    )


def test_a_node_may_lack_shared_memory() -> None:
    without = CLEAN.but({"space /dev/shm": {"absent": "/dev/shm"}})
    assert look(without, Cgroup()) == HostMemory(available_bytes=251658240 * 1024, ceilings=(NODE,))


def test_garbage_is_not_looked() -> None:
    with pytest.raises(CouldNotLook, match="/proc/meminfo: 0 lines for MemTotal"):
        look(CLEAN.but({"read /proc/meminfo": ["MemTotal: lots"]}), Cgroup())
