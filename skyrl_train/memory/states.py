"""What FSDP keeps for a model between and during the steps: weights, gradients, Adam, and the units in use.

Adam and its kin only: two states of the master precision a parameter (verl's default is torch's AdamW).
"""

from dataclasses import dataclass

from skyrl_train.memory.job import Job
from skyrl_train.memory.parameters import in_adapters, in_layer, in_model, in_root
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.units import DTYPE_BYTES


@dataclass(frozen=True)
class States:
    """Bytes on one GPU."""

    weights: float
    adapters: float
    gradients: float
    optimizer: float
    optimizer_work: float
    gathered: float
    load_copy: float
    state_dict_copy: float
    critic_at_rest: float


def states_of(shape: ModelShape, job: Job) -> States:
    master, compute = DTYPE_BYTES[job.master_dtype], DTYPE_BYTES[job.param_dtype]
    total = in_model(shape)
    adapters = shape.layers * in_adapters(shape, job.lora_rank, job.lora_targets) if job.lora_rank else 0
    trained = adapters if job.lora_rank else total
    on_gpu = 0 if job.offload_policy and job.strategy == "fsdp2" else master / job.shards
    return States(
        weights=total * on_gpu,
        adapters=adapters * on_gpu,
        gradients=trained * on_gpu,
        optimizer=2 * trained * on_gpu,
        # torch optim/adam.py _multi_tensor_adam: exp_avg_sq_sqrt, one more copy of the second moment
        optimizer_work=trained * on_gpu,
        gathered=(in_root(shape) + in_layer(shape)) * compute,
        load_copy=in_root(shape) * master,
        state_dict_copy=total * master if job.shards == 1 and job.strategy == "fsdp" else 0,
        critic_at_rest=_critic_at_rest(shape, job),
    )


def _critic_at_rest(shape: ModelShape, job: Job) -> float:
    """Weights and Adam of the critic, which shares the process with the actor and waits on the GPU."""
    critic = job.critic
    if critic is None:
        return 0
    size = in_model(shape, value_head=True) * DTYPE_BYTES[critic.master_dtype] / job.shards
    return size * (not critic.param_offload) + 2 * size * (not critic.optimizer_offload)
