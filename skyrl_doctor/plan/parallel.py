"""The parallel sizes that a plan sets, by trained model, under the dialect's own keys."""

from collections.abc import Iterator

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.model import Plan, Value
from skyrl_train.config.parallel import Parallel

_VERL = "actor_rollout_ref.actor"


@record
class Megatron:
    """A model that Megatron trains: the GPUs, the sizes, and the table of its keys."""

    gpus: int
    sizes: Parallel
    table: str
    tensor: str
    pipeline: str


def own_value(plan: Plan, key: str) -> Value | None:
    """The value of a key in the dialect's own name; None if it is not set or not known."""
    found = plan.own.get(key)
    return found if found is not None and not found.unknown and found.value is not None else None


def own_integer(plan: Plan, key: str) -> int | None:
    found = own_value(plan, key)
    return (
        found.value
        if found is not None and isinstance(found.value, int) and not isinstance(found.value, bool)
        else None
    )


def megatron_models(plan: Plan) -> Iterator[Megatron]:
    """The models that Megatron trains, if their sizes and their GPUs are known."""
    for strategy, table, nodes, per_node in _TABLES:
        name = own_value(plan, strategy)
        if name is None or name.value != "megatron":
            continue
        counts = own_integer(plan, nodes), own_integer(plan, per_node)
        sizes = _sizes(plan, table)
        if sizes is not None and counts[0] and counts[1]:
            keys = f"{table}.tensor_model_parallel_size", f"{table}.pipeline_model_parallel_size"
            yield Megatron(counts[0] * counts[1], sizes, table, *keys)


def has_unknown_sizes(plan: Plan) -> bool:
    """Whether Megatron trains, or may train, and a parallel size of it is not known."""
    for strategy, table, _, _ in _TABLES:
        found = plan.own.get(strategy)
        if found is not None and (found.unknown or found.value == "megatron") and _sizes(plan, table) is None:
            return True
    return False


_TABLES = (
    ("actor_rollout_ref.actor.strategy", f"{_VERL}.megatron", "trainer.nnodes", "trainer.n_gpus_per_node"),
    (
        "trainer.strategy",
        "trainer.policy.megatron_config",
        "trainer.placement.policy_num_nodes",
        "trainer.placement.policy_num_gpus_per_node",
    ),
)
"""Strategy, table of sizes, nodes and GPUs a node: in verl and in SkyRL's trainer."""


_FSDP = (
    ("actor_rollout_ref.actor.strategy", f"{_VERL}.fsdp_config.fsdp_size", "trainer.nnodes", "trainer.n_gpus_per_node"),
    *(
        (
            "trainer.strategy",
            f"trainer.{role}.fsdp_config.fsdp_size",
            f"trainer.placement.{role}_num_nodes",
            f"trainer.placement.{role}_num_gpus_per_node",
        )
        for role in ("policy", "critic", "ref")
    ),
)
"""Strategy, size of a group of shards, nodes and GPUs a node: in verl and in SkyRL's trainer."""


def fsdp_groups(plan: Plan) -> Iterator[tuple[Value, int]]:
    """The sizes of the groups that share the weights, each with the number of GPUs, where FSDP trains and both are known."""
    for strategy, key, nodes, per_node in _FSDP:
        name, size = own_value(plan, strategy), own_value(plan, key)
        counts = own_integer(plan, nodes), own_integer(plan, per_node)
        is_fsdp = name is None or str(name.value).startswith("fsdp")
        if size is not None and is_fsdp and own_integer(plan, key) is not None and counts[0] and counts[1]:
            yield size, counts[0] * counts[1]


def _sizes(plan: Plan, table: str) -> Parallel | None:
    names = ("tensor_model", "pipeline_model", "context", "expert_model")
    keys = [f"{table}.{name}_parallel_size" for name in names]
    if any(plan.own[key].unknown for key in keys if key in plan.own):
        return None
    tensor, pipeline, context, expert = (own_integer(plan, key) or 1 for key in keys)
    if min(tensor, pipeline, context, expert) < 1:
        return None
    return Parallel(
        tensor=tensor,
        pipeline=pipeline,
        context=context,
        expert=expert,
        expert_tensor=own_integer(plan, f"{table}.expert_tensor_parallel_size"),
    )
