"""The memory of the host that each GPU's processes need: what is off-loaded, and the processes themselves.

Counted. Two runs were measured: 8 % more without off-loading, 46 % more with it (tests/benchmarks/test_host_memory.py).
"""

from typing import NamedTuple

from skyrl_train.memory.activations import checkpoint
from skyrl_train.memory.job import Job
from skyrl_train.memory.parameters import in_model
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.states import Model
from skyrl_train.memory.trained import actor_of, critic_of
from skyrl_train.memory.units import BF16, FP32, GIB

PROCESS = 5 * GIB
"""Resident memory of a Python process with torch, CUDA and Ray's client."""


class Host(NamedTuple):
    """Bytes for one GPU."""

    states: int  # weights, gradients and optimiser states of the models that wait on the host
    activations: int
    loading: int  # the whole model, while it is read
    processes: int

    @property
    def total(self) -> int:
        return self.states + max(self.activations, self.loading) + self.processes


def host_memory(shape: ModelShape, job: Job) -> Host:
    """What stays on the host between steps, and the most that comes on top of it."""
    models = [model for model in (actor_of(shape, job), critic_of(shape, job)) if model is not None]
    reference = in_model(shape) * FP32 / job.shards if job.reference and not job.lora_rank else 0
    actor = models[0]
    inputs = actor.tokens * checkpoint(shape) * actor.held_layers if job.activation_offload else 0
    # one process of a node reads the weights, and hands them to the others
    return Host(
        states=round(sum(map(_away, models)) + reference),
        activations=round(inputs),
        loading=in_model(shape) * BF16 // max(1, min(job.n_gpus, 8)),
        processes=PROCESS * (1 + (job.rollout is not None and not job.rollout.separate)),
    )


def _away(model: Model) -> float:
    """The bytes of a model's states on the host, in whole: FSDP2's own policy leaves nothing on the GPU."""
    job = model.job
    if job.offload_policy and job.strategy == "fsdp2":
        trained = model.adapter_parameters if job.lora_rank else in_model(model.shape, value_head=model.value_head)
        whole = in_model(model.shape, value_head=model.value_head) + 3 * trained
        return whole * model.master / job.shards
    weights = model.weights + model.adapters if model.param_offload else 0
    return weights + (model.optimizer if model.optimizer_offload else 0)
