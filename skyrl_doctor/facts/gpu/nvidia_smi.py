"""Parses nvidia-smi: the list of devices, the memory and driver of each GPU, and the processes on it.

It reports no memory of a slice and, with current drivers, no instance numbers of a slice. They stay None.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from skyrl_doctor.facts.gpu.devices import Closed, Gpu, Gpus, Memory, Process, Slice

LIST = ("nvidia-smi", "-L")
GPU_FIELDS = ("uuid", "memory.total", "memory.used", "memory.free", "driver_version")
FIGURES = ("nvidia-smi", f"--query-gpu={','.join(GPU_FIELDS)}", "--format=csv,noheader,nounits")
MIG_MODE = ("nvidia-smi", "--query-gpu=uuid,mig.mode.current", "--format=csv,noheader")
APPS = ("nvidia-smi", "--query-compute-apps=gpu_uuid,pid,used_memory", "--format=csv,noheader,nounits")

# GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)
GPU_LINE = re.compile(r"GPU (?P<index>[0-9]{1,4}): (?P<name>.+?) \(UUID: (?P<uuid>GPU-[0-9a-fA-F-]+)\)\s*")
#   MIG 2g.20gb     Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)
#   MIG 3g.20gb Device 0: (UUID: MIG-GPU-a7449be4-8516-9501-f69d-1e5841e103ce/1/0)
MIG_LINE = re.compile(
    r"\s+MIG (?P<profile>\S+)\s+Device\s+(?P<index>[0-9]{1,4}): \(UUID: "
    r"(?P<uuid>MIG-(?:GPU-[0-9a-fA-F-]+/(?P<gi>[0-9]{1,4})/(?P<ci>[0-9]{1,4})|[0-9a-fA-F-]+))\)\s*"
)
# Unable to determine the device handle for GPU1: 0000:84:00.0: GPU is lost.  Reboot the system to recover this GPU
# Unable to determine the device handle for GPU0000:CB:00.0: Unknown Error  -- the bus, and no index
LOST_LINE = re.compile(r"Unable to determine the device handle for (?:gpu|GPU) ?(?:(?P<index>[0-9]{1,4}): )?.*")
# No devices were found · No devices found.
NO_DEVICES = re.compile(r"No devices (?:were )?found", re.IGNORECASE)


@dataclass(slots=True)
class _Listed:
    index: int
    name: str
    uuid: str
    slices: list[Slice] = field(default_factory=list)


def parse_list(text: str) -> Gpus | None:
    """Parses `nvidia-smi -L`; None if it neither lists a device nor says that there is none."""
    listed: list[_Listed] = []
    closed: list[Closed] = []
    for line in text.splitlines():
        if found := GPU_LINE.fullmatch(line):
            listed.append(_Listed(int(found["index"]), found["name"], found["uuid"]))
        elif listed and (found := MIG_LINE.fullmatch(line)):
            listed[-1].slices.append(_slice(found, listed[-1].uuid))
        elif found := LOST_LINE.fullmatch(line):
            closed.append(Closed(int(found["index"]) if found["index"] else None, line.strip()))
    if not listed and not closed and not NO_DEVICES.search(text):
        return None
    gpus = tuple(
        Gpu(index=one.index, uuid=one.uuid, name=one.name, mig=True if one.slices else None, slices=tuple(one.slices))
        for one in listed
    )
    return Gpus(source="nvidia-smi", gpus=gpus, closed=tuple(closed))


def with_figures(gpus: Gpus, text: str) -> Gpus:
    """Adds memory and driver version from FIGURES. A value that is not a number, such as [N/A], stays None."""
    rows = {row[0]: row for row in _rows(text, len(GPU_FIELDS))}
    memories = {uuid: _memory(row[1:4]) for uuid, row in rows.items()}
    driver = next((row[4] for row in rows.values() if row[4][:1].isdigit()), None)
    filled = tuple(dataclasses.replace(gpu, memory=memories.get(gpu.uuid)) for gpu in gpus.gpus)
    return dataclasses.replace(gpus, driver=driver, gpus=filled)


def with_mig_mode(gpus: Gpus, text: str) -> Gpus:
    """Adds the MIG mode of each GPU from MIG_MODE: a GPU in MIG mode may have no slice that this step can open."""
    modes = {row[0]: row[1] for row in _rows(text, 2)}
    return dataclasses.replace(gpus, gpus=tuple(dataclasses.replace(gpu, mig=_mode(gpu, modes)) for gpu in gpus.gpus))


def with_processes(gpus: Gpus, text: str) -> Gpus:
    """Adds processes from APPS to the GPU or slice with the listed UUID."""
    found: dict[str, list[Process]] = {}
    for uuid, pid, used in _rows(text, 3):
        if re.fullmatch(r"[0-9]{1,9}", pid):
            found.setdefault(uuid, []).append(Process(pid=int(pid), used_mib=_number(used)))
    return dataclasses.replace(gpus, gpus=tuple(_with_own(gpu, found) for gpu in gpus.gpus))


def _with_own(gpu: Gpu, found: Mapping[str, list[Process]]) -> Gpu:
    # In MIG mode some drivers list the slice and others its GPU. A slice that is not listed keeps None.
    slices = tuple(
        dataclasses.replace(one, processes=tuple(found[one.uuid]) if one.uuid in found else None) for one in gpu.slices
    )
    return dataclasses.replace(gpu, slices=slices, processes=tuple(found.get(gpu.uuid, ())))


def _slice(found: re.Match[str], parent: str) -> Slice:
    gi, ci = (int(found[name]) if found[name] else None for name in ("gi", "ci"))
    return Slice(uuid=found["uuid"], parent=parent, index=int(found["index"]), gi=gi, ci=ci, profile=found["profile"])


def _mode(gpu: Gpu, modes: Mapping[str, str]) -> bool | None:
    return {"Enabled": True, "Disabled": False}.get(modes.get(gpu.uuid, ""), gpu.mig)


def _memory(cells: list[str]) -> Memory | None:
    total, used, free = (_number(cell) for cell in cells)
    if not total or used is None or free is None:
        return None
    return Memory(total_mib=total, used_mib=used, free_mib=free)


def _number(cell: str) -> int | None:
    return int(cell) if re.fullmatch(r"[0-9]{1,9}", cell) else None


def _rows(text: str, width: int) -> Iterator[list[str]]:
    import csv  # rarely needed: NVML usually answers

    try:
        for row in csv.reader(text.splitlines(), skipinitialspace=True):
            if len(row) == width:
                yield [cell.strip() for cell in row]
    except csv.Error:
        return
