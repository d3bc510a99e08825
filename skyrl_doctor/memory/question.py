"""The two halves of every question to the memory model: which model, and on which device."""

from collections.abc import Mapping

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts import gpu
from skyrl_doctor.facts.gpu.budget import GpuBudget
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.answers import GPU_TYPE, planned_gpu_type
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import cannot_reload
from skyrl_train.memory import (
    Device,
    Job,
    MemoryModelError,
    ModelShape,
    UnsupportedModelError,
    budget,
    device_named,
    shape_from_config,
)
from skyrl_train.memory.budget import CONTEXT
from skyrl_train.memory.known import known_config
from skyrl_train.memory.states import actor_of, critic_of

MIB = 2**20


@record
class Model:
    """A model's shape and where it was read."""

    name: str
    shape: ModelShape
    source: str


def model_of(files: ModelFiles) -> Model:
    """The model that lies here; else the public one of this name. NotApplicable where its memory is not modelled."""
    config: Mapping[str, object] | None = files.config
    source = f"{files.directory}/config.json"
    if config is None:
        config, source = known_config(files.name), "its published shape: its files are not on this machine"
    if config is None and cannot_reload(files.name, None):
        raise NotApplicable(f"{files.name}: gpt-oss (a quantised mixture of experts); its experts are not described")
    if config is None:
        why = (
            f"{files.directory} holds no config.json that reads"
            if files.directory
            else f"{files.name or repr('')} is not here"
        )
        raise NotApplicable(f"the model's shape is not known: {why}, and it is none of the public models known by name")
    try:
        return Model(files.name, shape_from_config(config), source)
    except UnsupportedModelError as error:
        raise NotApplicable(f"{files.name} ({source}): {error}") from None
    except MemoryModelError as error:
        raise CouldNotLook(f"{files.name} ({source}): {error}") from None


def job_device(gpus: gpu.Gpus, environ: Mapping[str, str]) -> tuple[Device, int | None]:
    """The smallest device of this job with its memory, and what is free on it."""
    devices = gpu.usable(gpus, environ)
    if not devices:
        raise NotApplicable("CUDA finds no GPU here (GPU002)")
    told = [(one.memory, one) for one in devices if one.memory is not None]
    if len(told) < len(devices):
        return _by_name(devices[0], gpus), None
    memory, device = min(told, key=lambda pair: pair[0].total_mib)
    return Device(_title(device, gpus), memory.total_mib * MIB), memory.free_mib * MIB


def planned_device(plan: Plan) -> Device:
    """The device that the plan asks Slurm for by type."""
    wanted = planned_gpu_type(plan)
    try:
        return device_named(wanted.replace("_", " "))
    except MemoryModelError as error:
        raise CouldNotLook(f"{plan.name(GPU_TYPE)}: {error}") from None


def answer(model: Model, job: Job, device: Device, free: int | None = None) -> GpuBudget:
    """What the memory model says to it."""
    try:
        found = budget(model.shape, job, device)
    except MemoryModelError as error:
        raise CouldNotLook(str(error)) from None
    return GpuBudget(
        model=model.name,
        shape_from=model.source,
        shape=model.shape,
        job=job,
        budget=found,
        kept=_kept(model.shape, job) + CONTEXT,
        free=free,
    )


def _kept(shape: ModelShape, job: Job) -> int:
    """What stays on the GPU while one model is updated and the other, where there is a critic, waits."""
    actor, critic = actor_of(shape, job), critic_of(shape, job)
    models = [actor] if critic is None else [actor, critic]
    whole = {id(one): one.weights + one.adapters + one.gradients + one.optimizer for one in models}
    return round(max(whole[id(one)] + sum(other.at_rest for other in models if other is not one) for one in models))


def _by_name(device: gpu.Device, gpus: gpu.Gpus) -> Device:
    """A driver that does not tell a slice's memory tells its profile."""
    title = _title(device, gpus)
    try:
        return device_named(title)
    except MemoryModelError:
        raise CouldNotLook(f"{gpus.source} does not tell the memory of {device.title}") from None


def _title(device: gpu.Device, gpus: gpu.Gpus) -> str:
    if isinstance(device, gpu.Gpu):
        return device.name
    parent = next((one.name for one in gpus.gpus if one.uuid == device.parent), "")
    return f"{parent} {device.profile or 'MIG slice'}".strip()
