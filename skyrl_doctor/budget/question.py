"""Finds the device of a plan, and asks the memory model for an estimate."""

from collections.abc import Mapping

from skyrl_doctor.budget.job import OURS
from skyrl_doctor.budget.lengths import KnownLengths
from skyrl_doctor.budget.models import Model
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts import gpu
from skyrl_doctor.facts.gpu.budget import GpuBudget
from skyrl_doctor.plan.answers import GPU_TYPE, planned_gpu_type
from skyrl_doctor.plan.model import Plan
from skyrl_train.memory import (
    Device,
    Job,
    MemoryModelError,
    ModelShape,
    budget,
    device_named,
    device_of_size,
    host_memory,
    is_unknown_slice,
    sizes_of,
    step_time,
)
from skyrl_train.memory.budget import CONTEXT
from skyrl_train.memory.step_time import SPEEDS
from skyrl_train.memory.trained import actor_of, critic_of

MIB = 2**20
PRIME_RL = "prime-rl"
"""Its trainer packs samples, so that the time depends on their lengths and not on their limit."""
GPU_MEMORY = "slurm.gpu_memory_gib"
ROUNDED = 0.1
"""A GPU of 80 GB shows programs a little less."""


def job_device(gpus: gpu.Gpus, environ: Mapping[str, str]) -> tuple[Device, int | None]:
    """The device of this job with the least memory, and its free memory in bytes (None if the driver hides it)."""
    devices = gpu.usable(gpus, environ)
    if not devices:
        raise NotApplicable("CUDA finds no GPU here (GPU002)")
    measured = [(one.memory, one) for one in devices if one.memory is not None]
    if len(measured) < len(devices):
        return _by_name(devices[0], gpus), None
    memory, device = min(measured, key=lambda pair: pair[0].total_mib)
    return Device(_title(device, gpus), memory.total_mib * MIB), memory.free_mib * MIB


def planned_device(plan: Plan) -> Device:
    """The device of the GPU type that the plan requests from Slurm."""
    memory = plan.find(GPU_MEMORY)
    name = planned_gpu_type(plan) if memory is None else plan.text(GPU_TYPE) or ""
    try:
        sizes = sizes_of(name)
        if memory is not None:
            given = device_of_size(f"{memory.value} GiB")
            named = [one for one in map(device_named, sizes) if abs(one.total - given.total) < given.total * ROUNDED]
            return named[0] if named else given
        if is_unknown_slice(name):
            raise NotApplicable(f"{plan.name(GPU_TYPE)}: {name} is a MIG slice of a size that its name does not tell")
        if sizes:
            remedy = "set slurm.gpu_memory_gib" if plan.is_of(OURS) else "name one of them"
            raise NotApplicable(f"{plan.name(GPU_TYPE)}: {name} is a GPU of {' or '.join(sizes)}; {remedy}")
        return device_named(name.replace("_", " "))
    except MemoryModelError as error:
        raise CouldNotLook(f"{plan.name(GPU_TYPE)}: {error}") from None


def estimate(
    model: Model, job: Job, device: Device, free: int | None = None, known: KnownLengths | None = None
) -> GpuBudget:
    """The memory model's budget for this job on this device. Raises CouldNotLook."""
    try:
        found = budget(model.shape, job, device, free=free)
        likely = None if known is None else budget(model.shape, known.job(job), device, free=free)
    except MemoryModelError as error:
        raise CouldNotLook(str(error)) from None
    usual = job if known is None else known.job(job)
    starts = not (found if likely is None else likely).problems
    packs_unknown = job.framework == PRIME_RL and not job.val_only and (known is None or known.prompt is None)
    return GpuBudget(
        model=model.name,
        shape_from=model.source,
        shape=model.shape,
        job=job,
        budget=found,
        expected=likely,
        lengths="" if known is None else known.summary,
        replies_known=known is not None and known.reply is not None,
        host=host_memory(model.shape, usual),
        time_needs_lengths=starts and packs_unknown and device.name in SPEEDS,
        seconds=None if packs_unknown or not starts else step_time(model.shape, usual, found.engine, device),
        kept=_kept(model.shape, job) + CONTEXT,
    )


def _kept(shape: ModelShape, job: Job) -> int:
    """Bytes that stay on the GPU while one model is updated and the other (with a critic) waits."""
    actor, critic = actor_of(shape, job), critic_of(shape, job)
    models = [actor] if critic is None else [actor, critic]
    full = {id(one): one.weights + one.adapters + one.gradients + one.optimizer for one in models}
    return round(max(full[id(one)] + sum(other.at_rest for other in models if other is not one) for one in models))


def _by_name(device: gpu.Device, gpus: gpu.Gpus) -> Device:
    """The device by its name, for a driver that hides a slice's memory but reports its profile."""
    title = _title(device, gpus)
    try:
        return device_named(title)
    except MemoryModelError:
        raise CouldNotLook(f"{gpus.source} does not report the memory of {device.title}") from None


def _title(device: gpu.Device, gpus: gpu.Gpus) -> str:
    if isinstance(device, gpu.Gpu):
        return device.name
    parent = next((one.name for one in gpus.gpus if one.uuid == device.parent), "")
    return f"{parent} {device.profile or 'MIG slice'}".strip()
