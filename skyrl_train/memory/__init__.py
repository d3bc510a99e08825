"""Predicts the GPU memory of a verl run with vLLM before it starts. Pure, and quick to import.

    shape = shape_from_config(Path("config.json").read_text())     # ModelShape, or BadModelError / UnsupportedModelError
    job = job_from_verl({"data.max_prompt_length": 2048, ...})     # Job from verl's own dotted keys, or BadJobError
    job = job_from_prime({"trainer_gpu_ids": [0], ...})            # the same from prime-rl's keys
    device = device_named("A100-40GB 3g.20gb")                     # or device_of_size("20GiB"), or Device(name, bytes)
    found = budget(shape, job, device)                             # Budget: phases, peak, band, fits, room, as_json()
    solve("micro_batch", shape, job, device)                       # Solution: the largest value that fits
    changes(shape, job, device)                                    # the three changes that help most, with their gain

Each phase is simulated on a tape (tape.py) in the order of verl's code: `trainer.py` has the phases, `micro_batch.py`
forward and backward, `states.py` what FSDP keeps, `activations.py` and `logits.py` the bytes, `vllm.py` the engine.
docs/adr/0011-memory-model.md lists the measurements behind it and what it does not cover.

All errors are MemoryModelErrors: a question that cannot be answered gives no number. Sizes are bytes unless a name has
GiB.
"""

from skyrl_train.memory.budget import Budget, PhaseBudget, budget
from skyrl_train.memory.changes import Change, changes
from skyrl_train.memory.config_file import shape_from_config
from skyrl_train.memory.device import GPUS, SLICES, Device, device_named, device_of_size, is_unknown_slice, sizes_of
from skyrl_train.memory.errors import (
    BadJobError,
    BadModelError,
    MemoryModelError,
    UnknownDeviceError,
    UnsupportedJobError,
    UnsupportedModelError,
)
from skyrl_train.memory.expected import expected_job
from skyrl_train.memory.host import Host, host_memory
from skyrl_train.memory.job import Critic, Job, Rollout
from skyrl_train.memory.known import known_config
from skyrl_train.memory.lengths import Lengths, lengths_from
from skyrl_train.memory.more_gpus import Needed, needed_gpus
from skyrl_train.memory.prime_job import job_from_prime
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.solve import KNOBS, Solution, solve
from skyrl_train.memory.step_time import StepTime, step_time
from skyrl_train.memory.tape import Component
from skyrl_train.memory.trainer import Phase
from skyrl_train.memory.units import GIB, gib
from skyrl_train.memory.verl_job import job_from_verl
from skyrl_train.memory.vllm import Engine

__all__ = [
    "GIB",
    "GPUS",
    "KNOBS",
    "SLICES",
    "BadJobError",
    "BadModelError",
    "Budget",
    "Change",
    "Component",
    "Critic",
    "Device",
    "Engine",
    "Host",
    "Job",
    "Lengths",
    "MemoryModelError",
    "ModelShape",
    "Needed",
    "Phase",
    "PhaseBudget",
    "Rollout",
    "Solution",
    "StepTime",
    "UnknownDeviceError",
    "UnsupportedJobError",
    "UnsupportedModelError",
    "budget",
    "changes",
    "device_named",
    "device_of_size",
    "expected_job",
    "gib",
    "host_memory",
    "is_unknown_slice",
    "job_from_prime",
    "job_from_verl",
    "known_config",
    "lengths_from",
    "needed_gpus",
    "shape_from_config",
    "sizes_of",
    "solve",
    "step_time",
]
