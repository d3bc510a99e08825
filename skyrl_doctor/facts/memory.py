"""The memory of this node, and the part of it that this job may use."""

import re
from collections.abc import Mapping

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.cgroup import MOUNT, Cgroup
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.base import Machine, unless_absent

GIB = 1 << 30
MIB = 1 << 20
SHM = "/dev/shm"  # noqa: S108 -- read, not written: Ray's object store is there
_LINE = r"^{name}:\s+([0-9]{{1,15}}) kB\s*$"
_AMOUNT = re.compile(r"[0-9]{1,12}")
MEMINFO = "/proc/meminfo"


@record
class Ceiling:
    """An upper limit of memory, and its source."""

    bytes: int
    source: str
    of_node: bool = False
    """Whether no limit of a job is below the node's memory."""

    @property
    def gib(self) -> float:
        return self.bytes / GIB


@record(kw_only=True)
class HostMemory:
    """`ceilings` are the limits of this job, with the node's own memory; the lowest one applies.

    `available_bytes` is the number that Ray uses: of the node or its container, without the limit of a Slurm job.
    `shm_free_bytes` is the free space of /dev/shm, None if there is none.
    """

    available_bytes: int
    ceilings: tuple[Ceiling, ...]
    shm_free_bytes: int | None = None

    @property
    def ceiling(self) -> Ceiling:
        return min(self.ceilings, key=lambda ceiling: ceiling.bytes)


def parse_meminfo(text: str) -> tuple[int, int]:
    """MemTotal and MemAvailable of /proc/meminfo in bytes. Kernels before 3.14 have only MemFree. Raises ValueError."""
    total = _kib(text, "MemTotal")
    available = _kib(text, "MemAvailable") if "MemAvailable:" in text else _kib(text, "MemFree")
    if not total > 0 or available > total:
        raise ValueError(f"{available} kB available of {total} kB")
    return total * 1024, available * 1024


def slurm_memory(environ: Mapping[str, str]) -> Ceiling | None:
    """The job's Slurm memory on this node. Slurm's unit is MiB; 0 means the whole node. None if no variable is set."""
    for name, count_name in (
        ("SLURM_MEM_PER_NODE", ""),
        ("SLURM_MEM_PER_CPU", "SLURM_CPUS_ON_NODE"),
        ("SLURM_MEM_PER_GPU", "SLURM_GPUS_ON_NODE"),
    ):
        amount = _amount(environ.get(name))
        count = _amount(environ.get(count_name)) if count_name else 1
        if amount and count:
            source = f"{name}={amount}" + (f" x {count_name}={count}" if count_name else "")
            return Ceiling(amount * count * MIB, f"{source} (MiB)")
    return None


def _amount(text: str | None) -> int | None:
    return int(text) if text is not None and _AMOUNT.fullmatch(text) else None


def _kib(text: str, name: str) -> int:
    found = re.findall(_LINE.format(name=name), text, re.MULTILINE)
    if len(found) != 1:
        raise ValueError(f"{len(found)} lines for {name}; expected one")
    return int(found[0])


@probe(limit_s=3.0)
def memory(machine: Machine, cgroup: Cgroup, environ: Environ) -> HostMemory:
    """Reads the node's memory, the limits of this job, and the free space of /dev/shm."""
    try:
        total, available = parse_meminfo(machine.read(MEMINFO))
    except ValueError as error:
        raise CouldNotLook(f"{MEMINFO}: {error}") from None
    ceilings = [Ceiling(total, "the node's memory", of_node=True)]
    if (level := cgroup.least_memory) is not None:
        ceilings.append(Ceiling(level.limit, f"the memory limit of {level.path}"))
    if (asked := slurm_memory(environ)) is not None:
        ceilings.append(asked)
    of_container = [level.limit for level in cgroup.memory if level.path in (MOUNT, f"{MOUNT}/memory")]
    shm = unless_absent(lambda: machine.space(SHM))
    return HostMemory(
        available_bytes=min(available, *of_container, available),
        ceilings=tuple(ceilings),
        shm_free_bytes=shm.free_bytes if shm else None,
    )
