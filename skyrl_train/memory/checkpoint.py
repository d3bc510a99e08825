"""The size of a checkpoint on disk: the bytes of its tensors. Metadata adds a few MB."""

from skyrl_train.memory.job import Job
from skyrl_train.memory.parameters import in_embedding, in_model
from skyrl_train.memory.shape import ModelShape
from skyrl_train.memory.states import Model
from skyrl_train.memory.trained import actor_of, critic_of


def checkpoint_size(shape: ModelShape, job: Job) -> int:
    """The bytes of one global_step_N of all ranks: weights and Adam's two states of actor and critic, in master precision.

    Replicas of a hybrid mesh save everything again. FSDP1 on one rank saves a tied head in addition to the embedding.
    """
    models = [model for model in (actor_of(shape, job), critic_of(shape, job)) if model is not None]
    copies = max(1, job.n_gpus // job.shards)
    return copies * sum(_saved(model) for model in models)


def _saved(model: Model) -> int:
    shape = model.shape
    weights = in_model(shape, value_head=model.value_head)
    trained = model.adapter_parameters if model.job.lora_rank else weights
    alone = model.job.strategy == "fsdp" and model.job.shards == 1
    cloned = in_embedding(shape) if alone and shape.tied and not model.value_head else 0
    return (weights + cloned + model.adapter_parameters + 2 * trained) * model.master
