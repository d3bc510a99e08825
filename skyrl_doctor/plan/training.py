"""What a plan says of the host memory that a run needs."""

from skyrl_doctor.plan.answers import split_of_plan
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.host_memory import Training, billions_in_name


def training_of(plan: Plan) -> Training | None:
    """What the plan says of the run; None where it does not tell the model's size."""
    path = plan.text("model.path")
    billions = billions_in_name(path) if path else None
    if billions is None:
        return None
    parts = split_of_plan(plan)
    ranks = (plan.integer("slurm.gpus_per_node") or 1) if parts is None else parts.trainer_gpus
    lora = bool(plan.integer("model.lora_rank"))
    servers = max(1, ranks // (plan.integer("rollout.tensor_parallel_size") or 1))
    return Training(
        billions=billions,
        ranks=ranks,
        nodes=(plan.integer("slurm.nodes") or 1) if parts is None else parts.trainer_nodes,
        weight_bytes=2 if plan.text("actor.model_dtype") == "bf16" else 4,
        param_offload=bool(plan.flag("actor.param_offload")),
        optimizer_offload=bool(plan.flag("actor.optimizer_offload")),
        cpu_offload=bool(plan.flag("actor.cpu_offload")),
        critic=plan.text("algorithm.advantage") == "gae",
        lora=lora,
        sleeping_servers=servers if lora and parts is None and plan.flag("rollout.free_cache_engine") else 0,
        checkpoints=(plan.integer("trainer.save_every_steps") or 0) > 0,
    )
