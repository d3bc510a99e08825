"""The nodes of a prime-rl file that counts nodes and not GPUs."""

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.plan.model import Plan

NODES, TYPE = "deployment.num_infer_nodes", "inference.deployment.type"
REPLICAS = "deployment.num_infer_replicas"
PARTS = (
    ("inference.deployment.prefill_nodes_per_replica", "inference.deployment.num_prefill_replicas"),
    ("inference.deployment.decode_nodes_per_replica", "inference.deployment.num_decode_replicas"),
)
"""Nodes of an engine and engines of a replica with separate prefill and decoding, of which each has 1 by default."""
EXPERTS = ("inference.vllm.enable_expert_parallel", "inference.enable_expert_parallel")
MULTI_NODES = 2
"""inference.deployment.num_nodes of prime-rl, if the file does not set it."""


def count_of(plan: Plan, key: str, otherwise: int) -> int:
    """A number of the file, or its default. CouldNotLook, with what to write, if it has no value here."""
    value = plan.own.get(key)
    if value is None:
        return otherwise
    count = value.value
    if value.unknown or not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise CouldNotLook(f"{key} is {count!r}; write a whole number there")
    return count


def inference_nodes(plan: Plan) -> int:
    """configs/rl.py auto_setup_infer_nodes: those of a replica follow from inference.deployment, if they are not set."""
    nodes = count_of(plan, NODES, 0) if NODES in plan.own else _of_a_replica(plan)
    return nodes * count_of(plan, REPLICAS, 1)


def _of_a_replica(plan: Plan) -> int:
    if not any(key.startswith("inference.") for key in plan.own):
        return 0
    kind = plan.own.get(TYPE)
    name = "single_node" if kind is None else kind.value
    if name == "multi_node":
        return count_of(plan, "inference.deployment.num_nodes", MULTI_NODES)
    if name == "disaggregated":
        return sum(count_of(plan, nodes, 1) * count_of(plan, engines, 1) for nodes, engines in PARTS)
    if name == "single_node":
        return 1
    raise CouldNotLook(f"{TYPE} is {name!r}; set {NODES} to the nodes of inference")


def refuse_divided_experts(plan: Plan) -> None:
    """NotApplicable where vLLM divides its experts over the GPUs of all its ranks."""
    key = next((key for key in EXPERTS if key in plan.own and plan.own[key].value is True), None)
    if key is not None:
        raise NotApplicable(
            f"{key} is true: vLLM's experts on several GPUs are not supported; for the trainer alone pass a copy of the file without its [inference] tables"
        )
