"""Megatron's own settings, from verl's keys: sizes, what is offloaded, and which layers are computed again."""

from dataclasses import replace

from skyrl_train.config.parallel import Parallel
from skyrl_train.contracts.verl_keys import A
from skyrl_train.memory.job import Job, check_count
from skyrl_train.memory.keys import Keys, or_default

TABLE = f"{A}.megatron"
LARGEST = 1_000_000


def as_megatron(keys: Keys, job: Job, table: str = TABLE) -> Job:
    """The job with Megatron's sizes. Its layers are computed again only with recompute_granularity = full."""
    override = f"{table}.override_transformer_config"
    granularity = keys.text(f"{override}.recompute_granularity")
    return replace(
        job,
        strategy="megatron",
        parallel=sizes(keys, table),
        sequence_parallel=1,
        distributed_optimizer=keys.flag(f"{table}.use_distributed_optimizer", default=True),
        param_offload=keys.flag(f"{table}.param_offload"),
        grad_offload=keys.flag(f"{table}.grad_offload"),
        optimizer_offload=keys.flag(f"{table}.optimizer_offload"),
        offload_policy=False,
        gradient_checkpointing=granularity == "full",
        torch_compile=False,
    )


def sizes(keys: Keys, table: str) -> Parallel:
    def size(name: str) -> int:
        key = f"{table}.{name}_parallel_size"
        found = or_default(keys.integer(key), 1)
        check_count(key, found, at_most=LARGEST)
        return found

    whole = f"{table}.expert_tensor_parallel_size"
    return Parallel(
        tensor=size("tensor_model"),
        pipeline=size("pipeline_model"),
        context=size("context"),
        expert=size("expert_model"),
        expert_tensor=size("expert_tensor") if keys.raw(whole) is not None else None,
    )
