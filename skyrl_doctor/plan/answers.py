"""Derived facts of a plan that checks, `budget` and `env` share."""

from collections.abc import Mapping

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.dialect import WITH_AGENTS
from skyrl_train.config.rollout_gpus import Split, split_of
from skyrl_train.contracts.verl_keys import MERGED
from skyrl_train.node.allocator import SLEEPS_BY_DEFAULT
from skyrl_train.node.proxy import Target
from skyrl_train.node.ray_env import RUNTIME_URL

TODAYS_PRIME, RUN_CONFIG = "prime-rl", "run-config"
PRIME = (TODAYS_PRIME, "prime-rl-2025")
"""The two schemas of prime-rl."""
NO_SANDBOXES = "the configuration has no agent with tasks in sandboxes"
SLEEP_SWITCH = "rollout.free_cache_engine"
GPU_TYPE = "slurm.gpu_type"
RUNTIME_KEY = "sandbox.runtime_url"


def has_sandboxes(plan: Plan) -> bool:
    """Whether the run starts sandboxes. True without a configuration: then the machine itself is examined."""
    return not plan or plan.is_of(*WITH_AGENTS)


def command_place(plan: Plan) -> Location | None:
    """The place of the command that starts verl's trainer; None without one."""
    found = plan.values.get("python.launcher")
    return None if found is None else found.location


def vllm_sleeps(plan: Plan) -> bool:
    """Whether vLLM frees its memory between steps. Not with prime-rl, whose vLLM has GPUs of its own."""
    if plan.is_of(*PRIME):
        return False
    sleeps = plan.flag(SLEEP_SWITCH)
    return SLEEPS_BY_DEFAULT if sleeps is None else sleeps


def runtime_target(plan: Plan, variables: Mapping[str, str]) -> Target | None:
    """The address of the sandbox runtime, from the plan or the workers' environment."""
    url = plan.text(RUNTIME_KEY) or variables.get(RUNTIME_URL, "").strip()
    return Target.of(url) if url else None


def planned_gpu_type(plan: Plan) -> str:
    """The type of GPU that the plan requests from Slurm. Raises NotApplicable."""
    gpu_type = plan.text(GPU_TYPE)
    if gpu_type is None:
        raise NotApplicable(f"no GPU here, and {plan.name(GPU_TYPE)} is not set")
    return gpu_type


def split_of_plan(plan: Plan) -> Split | None:
    """The GPUs that train and those of the rollouts in a configuration of ours; None if they share all GPUs."""
    if not plan.is_of(RUN_CONFIG):
        return None
    return split_of(
        mode=plan.text("trainer.mode") or "",
        nodes=plan.integer("slurm.nodes") or 1,
        gpus_per_node=plan.integer("slurm.gpus_per_node") or 1,
        rollout_gpus=plan.integer("trainer.rollout_gpus") or 0,
    )


def trained_gpus(plan: Plan) -> int:
    """The GPUs that train; 0 if the plan does not name them."""
    parts = split_of_plan(plan)
    if parts is not None:
        return parts.trainer_devices
    return (plan.integer("slurm.nodes") or 1) * (plan.integer("slurm.gpus_per_node") or 0)


def merges_adapter(plan: Plan) -> bool:
    """Whether verl sends whole weights, with the LoRA adapter merged into them."""
    found = plan.own.get(MERGED)
    return found is not None and found.value is True


def trainer_shares_gpu(plan: Plan) -> bool:
    """Whether the trainer and vLLM use the same GPU. prime-rl's launcher has separated them since 2026."""
    if not plan.is_of(*PRIME):
        return split_of_plan(plan) is None
    lists = [plan.own[key].value for key in ("inference_gpu_ids", "trainer_gpu_ids") if key in plan.own]
    sets = [set(map(str, ids)) for ids in lists if isinstance(ids, list)]
    return len(sets) == 2 and bool(sets[0] & sets[1])
