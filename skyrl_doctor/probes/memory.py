"""Reads the node's memory, the job's share of it, and the room in /dev/shm."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.cgroup import MOUNT, Cgroup
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.memory import SHM, Ceiling, HostMemory, parse_meminfo, slurm_memory
from skyrl_doctor.machine.base import Machine, unless_absent

MEMINFO = "/proc/meminfo"


@probe(limit_s=3.0)
def memory(machine: Machine, cgroup: Cgroup, environ: Environ) -> HostMemory:
    try:
        total, available = parse_meminfo(machine.read(MEMINFO))
    except ValueError as error:
        raise CouldNotLook(f"{MEMINFO}: {error}") from None
    ceilings = [Ceiling(total, "the node's memory")]
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
