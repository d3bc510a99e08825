"""The node: GPU memory and use, the job's host memory, disks."""

import os
import re
from collections.abc import Sequence

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.cgroup import Membership, directories, parse_limit, parse_memberships
from skyrl_doctor.facts.gpu import usable
from skyrl_doctor.facts.gpu.nvml import NO_DRIVER, Refused, parse_nvml
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.watch.observations import Fill, Observation, Use
from skyrl_doctor.watch.sample.base import Look

NVML_LIMIT_S = 12.0
SMI_LIMIT_S = 8.0
SMI = ("nvidia-smi", "--query-gpu=index,utilization.gpu", "--format=csv,noheader,nounits")
GIB = float(1 << 30)
_JOB = re.compile(r"/job_\d+$")
_COUNT = re.compile(r"^(anon|shmem|total_rss|total_shmem|total_mapped_file) (\d+)$", re.MULTILINE)


def gpus(machine: Machine, now: float) -> Sequence[Observation]:
    """Each device that the job can use: a slice of a GPU has memory of its own."""
    asked = machine.ask("nvml", limit_s=NVML_LIMIT_S)
    if not asked.ok:
        raise CouldNotLook(asked.why)
    answer = parse_nvml(asked.out)
    if isinstance(answer, Refused):
        if answer.code in NO_DRIVER or answer.code is None:
            raise NotApplicable(f"no NVIDIA GPU here: {answer.text}")
        raise CouldNotLook(f"NVML: {answer.text}")
    devices = usable(answer, machine.environ())
    return tuple(
        Fill(at=now, kind="gpu", name=one.title, used=one.memory.used_mib / 1024, limit=one.memory.total_mib / 1024)
        for one in devices
        if one.memory is not None
    )


def gpu_use(machine: Machine, now: float) -> Sequence[Observation]:
    """How busy whole GPUs are; the driver counts no slice."""
    asked = machine.run(SMI, limit_s=SMI_LIMIT_S)
    if not asked.found:
        raise NotApplicable("no nvidia-smi here")
    if not asked.ok:
        raise CouldNotLook(asked.why)
    pairs = [line.split(",") for line in asked.out.splitlines()]
    known = [(index.strip(), text.strip()) for index, text in (pair for pair in pairs if len(pair) == 2)]
    return tuple(Use(at=now, device=f"GPU {index}", percent=float(text)) for index, text in known if text.isdecimal())


def host_memory(machine: Machine, now: float) -> Sequence[Observation]:
    """What the job's processes hold, without the page cache: that fills whatever is there and is given back."""
    for membership in parse_memberships(machine.read("/proc/self/cgroup")):
        if membership.controllers and "memory" not in membership.controllers:
            continue
        for directory in _outermost_first(membership):
            found = _filled(machine, directory, now)
            if found is not None:
                return (found,)
    raise NotApplicable("no control group limits the memory here")


def _outermost_first(membership: Membership) -> list[str]:
    """The job's own group, which holds all its steps, before that of this step."""
    every = directories(membership)
    return sorted(every, key=lambda directory: 0 if _JOB.search(directory) else 1)


def _filled(machine: Machine, directory: str, now: float) -> Fill | None:
    for name in ("memory.max", "memory.limit_in_bytes"):
        try:
            limit = parse_limit(machine.read(f"{directory}/{name}"))
            counts = dict(_COUNT.findall(machine.read(f"{directory}/memory.stat")))
        except Absent:
            continue
        if limit is None:
            return None
        mine = ("total_rss", "total_shmem") if "total_rss" in counts else ("anon", "shmem")
        used = sum(int(counts.get(part, 0)) for part in mine)
        return Fill(at=now, kind="host", name="the job's memory", used=used / GIB, limit=limit / GIB)
    return None


def disk(path: str, name: str = "") -> Look:
    """The file system that holds a path, or will."""

    def look(machine: Machine, now: float) -> Sequence[Observation]:
        existing = path
        while not os.path.exists(existing) and os.path.dirname(existing) != existing:
            existing = os.path.dirname(existing)
        space = machine.space(existing)
        size = space.total_bytes / GIB
        found: list[Observation] = [
            Fill(at=now, kind="disk", name=name or path, used=size - space.free_bytes / GIB, limit=size)
        ]
        if space.total_bytes and space.free_inodes == 0:
            found.append(Fill(at=now, kind="inodes", name=name or path, used=1.0, limit=1.0, unit="of all inodes"))
        return tuple(found)

    return look
