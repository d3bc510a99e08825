"""/proc/meminfo and what Slurm was asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.cgroup import Cgroup, Level
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.memory import Ceiling, HostMemory, memory, parse_meminfo, slurm_memory
from skyrl_doctor.machine.base import Machine
from support import recorded

GIB = 1 << 30


def test_reads_total_and_available() -> None:
    text = "MemTotal:       24684096 kB\nMemFree:        22406060 kB\nMemAvailable:   24171804 kB\n"
    assert parse_meminfo(text) == (24684096 * 1024, 24171804 * 1024)


def test_an_old_kernel_tells_what_is_free() -> None:
    assert parse_meminfo("MemTotal: 100 kB\nMemFree: 40 kB\n") == (102400, 40960)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "MemTotal: 100 kB\n",
        "MemTotal: 0 kB\nMemFree: 0 kB\n",
        "MemTotal: 100 kB\nMemFree: 200 kB\n",
        "MemTotal: much kB\nMemFree: 40 kB\n",
        "MemTotal: 100 kB\nMemTotal: 100 kB\nMemFree: 40 kB\n",
    ],
)
def test_what_reads_otherwise_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"Mem|available"):
        parse_meminfo(text)


@given(st.text() | st.text(alphabet="MemTotalFreAvib: 0123kB\n"))
def test_available_is_part_of_the_total(text: str) -> None:
    try:
        total, available = parse_meminfo(text)
    except ValueError:
        return
    assert 0 <= available <= total > 0


@pytest.mark.parametrize(
    ("environ", "ceiling"),
    [
        ({}, None),
        ({"SLURM_MEM_PER_NODE": "131072"}, Ceiling(128 * GIB, "SLURM_MEM_PER_NODE=131072 (MiB)")),
        ({"SLURM_MEM_PER_NODE": "0"}, None),
        ({"SLURM_MEM_PER_NODE": ""}, None),
        ({"SLURM_MEM_PER_NODE": "128G"}, None),
        (
            {"SLURM_MEM_PER_CPU": "4096", "SLURM_CPUS_ON_NODE": "16"},
            Ceiling(64 * GIB, "SLURM_MEM_PER_CPU=4096 x SLURM_CPUS_ON_NODE=16 (MiB)"),
        ),
        ({"SLURM_MEM_PER_CPU": "4096"}, None),
        (
            {"SLURM_MEM_PER_GPU": "65536", "SLURM_GPUS_ON_NODE": "2"},
            Ceiling(128 * GIB, "SLURM_MEM_PER_GPU=65536 x SLURM_GPUS_ON_NODE=2 (MiB)"),
        ),
    ],
)
def test_reads_what_slurm_was_asked_for(environ: dict[str, str], ceiling: Ceiling | None) -> None:
    assert slurm_memory(environ) == ceiling


@given(st.text())
def test_garbage_is_no_request(text: str) -> None:
    found = slurm_memory({"SLURM_MEM_PER_NODE": text})
    assert found is None or found.bytes == int(text) << 20


def test_the_least_ceiling_counts() -> None:
    node, job = Ceiling(256 * GIB, "node"), Ceiling(8 * GIB, "job")
    assert HostMemory(available_bytes=1, ceilings=(node, job)).ceiling == job
    assert job.gib == 8


CLEAN = recorded("clean_gpu_node")
NODE = Ceiling(263782400 * 1024, "the node's memory", of_node=True)
JOB = Level("/sys/fs/cgroup/job_4711", 8 << 30)


def look(machine: Machine, cgroup: Cgroup, **environ: str) -> object:
    return memory(machine, cgroup, Environ(environ))


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
