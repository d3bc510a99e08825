"""The GPUs that this job step can open, their MIG slices, and the devices that CUDA gives to the job.

A value that the driver does not report is None, never zero or an empty list.
"""

import dataclasses
from collections.abc import Iterator, Mapping

from skyrl_doctor.core.record import record
from skyrl_train.node.mig import SliceId, find_gpu, find_slice
from skyrl_train.node.visible_devices import VARIABLE, Entry, Form, VisibleDevices, parse


@record(kw_only=True)
class Owner:
    """The owner of a process according to /proc. `job` is the Slurm job of its cgroup, or None."""

    name: str
    uid: int
    job: str | None = None


@record(kw_only=True)
class Process:
    """A process with memory on a device. `owner` is None if /proc does not show the process."""

    pid: int
    used_mib: int | None = None
    owner: Owner | None = None


@record(kw_only=True)
class Memory:
    """Memory of a whole GPU or of one slice."""

    total_mib: int
    used_mib: int
    free_mib: int


@record(kw_only=True)
class Slice:
    """One MIG slice with its own memory. An example of `profile` is 2g.20gb."""

    uuid: str
    parent: str
    index: int
    gi: int | None = None
    ci: int | None = None
    profile: str | None = None
    memory: Memory | None = None
    processes: tuple[Process, ...] | None = None

    @property
    def title(self) -> str:
        return f"MIG slice {self.profile} ({self.uuid})" if self.profile else f"MIG slice {self.uuid}"


@record(kw_only=True)
class Gpu:
    """One physical GPU that this step can open. `mig` is None if the GPU has no MIG or does not report it."""

    index: int
    uuid: str
    name: str
    mig: bool | None = None
    slices: tuple[Slice, ...] = ()
    memory: Memory | None = None
    processes: tuple[Process, ...] | None = None

    @property
    def title(self) -> str:
        return f"GPU {self.index} ({self.name})"


@record
class Closed:
    """A GPU or slice that exists but that this step cannot open."""

    index: int | None
    """None if the driver names only the bus."""
    why: str
    slice_index: int | None = None


Device = Gpu | Slice
"""A CUDA device: a whole GPU or one MIG slice."""


@record(kw_only=True)
class Gpus:
    """All GPUs that the driver shows to this step, regardless of CUDA_VISIBLE_DEVICES. `source` is nvml or nvidia-smi."""

    source: str
    driver: str | None = None
    gpus: tuple[Gpu, ...] = ()
    closed: tuple[Closed, ...] = ()

    @property
    def slices(self) -> tuple[Slice, ...]:
        return tuple(one for gpu in self.gpus for one in gpu.slices)

    @property
    def slice_ids(self) -> tuple[SliceId, ...]:
        """The slices in the form that the trainer's rules take."""
        return tuple(SliceId(uuid=one.uuid, parent=one.parent, gi=one.gi, ci=one.ci) for one in self.slices)

    @property
    def uuids(self) -> tuple[str, ...]:
        return tuple(gpu.uuid for gpu in self.gpus)

    @property
    def physical(self) -> int:
        """The number of GPUs as NVML and Ray count them: with the GPUs that cannot be opened, without slices."""
        whole = (one for one in self.closed if one.slice_index is None)
        return len(self.gpus) + len({one.why if one.index is None else one.index for one in whole})

    @property
    def pids(self) -> tuple[int, ...]:
        """The pids of the processes on all devices, each once."""
        devices: tuple[Device, ...] = (*self.gpus, *self.slices)
        return tuple(dict.fromkeys(process.pid for device in devices for process in device.processes or ()))

    def with_owners(self, owners: Mapping[int, Owner]) -> "Gpus":
        """A copy with the owners of the processes filled in."""
        return dataclasses.replace(self, gpus=tuple(_owned(gpu, owners) for gpu in self.gpus))


def usable(gpus: Gpus, environ: Mapping[str, str]) -> tuple[Device, ...]:
    """The devices that this job can use, in CUDA's order.

    A number in CUDA_VISIBLE_DEVICES selects a GPU; an unset variable selects all. On a GPU in MIG mode, CUDA uses the
    first slice, or nothing if it has none. Numbers count in NVML's order, which equals CUDA's if all GPUs are alike.
    """
    visible = parse(environ.get(VARIABLE))
    if visible.form is Form.UNSET:
        return tuple(device for gpu in gpus.gpus for device in _as_cuda_takes(gpu))
    followed = tuple(_followed(visible, gpus))
    return (
        followed if len({device.uuid for device in followed}) == len(followed) else ()
    )  # CUDA uses no device if one is listed twice


def _followed(visible: VisibleDevices, gpus: Gpus) -> Iterator[Device]:
    for entry in visible.reached:
        device = _device(entry, gpus)
        if device is None:
            return
        yield device


def _device(entry: Entry, gpus: Gpus) -> Device | None:
    if entry.number is not None:
        found = gpus.gpus[entry.number : entry.number + 1]
        return next((device for gpu in found for device in _as_cuda_takes(gpu)), None)
    slice_number = find_slice(entry, gpus.slice_ids)
    if slice_number is not None:
        return gpus.slices[slice_number]
    gpu_number = find_gpu(entry, gpus.uuids)
    return None if gpu_number is None else next(iter(_as_cuda_takes(gpus.gpus[gpu_number])), None)


def _as_cuda_takes(gpu: Gpu) -> tuple[Device, ...]:
    return gpu.slices[:1] if gpu.mig else (gpu,)


def _owned(gpu: Gpu, owners: Mapping[int, Owner]) -> Gpu:
    slices = tuple(dataclasses.replace(one, processes=_with(one.processes, owners)) for one in gpu.slices)
    return dataclasses.replace(gpu, slices=slices, processes=_with(gpu.processes, owners))


def _with(processes: tuple[Process, ...] | None, owners: Mapping[int, Owner]) -> tuple[Process, ...] | None:
    if processes is None:
        return None
    return tuple(dataclasses.replace(process, owner=owners.get(process.pid)) for process in processes)
