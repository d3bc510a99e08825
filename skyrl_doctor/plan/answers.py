"""Questions that a check and `env` both ask of a plan: one answer each."""

from collections.abc import Mapping

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.allocator import SLEEPS_BY_DEFAULT
from skyrl_train.node.proxy import Target
from skyrl_train.node.ray_env import RUNTIME_URL

TODAYS_PRIME = "prime-rl"
PRIME = (TODAYS_PRIME, "prime-rl-2025")
"""Its two schemas."""
SLEEP_SWITCH = "rollout.free_cache_engine"
GPU_TYPE = "slurm.gpu_type"
RUNTIME_KEY = "sandbox.runtime_url"


def vllm_sleeps(plan: Plan) -> bool:
    """Whether vLLM gives its memory back between steps. prime-rl's trainer and its vLLM never share a GPU."""
    if plan.is_of(*PRIME):
        return False
    said = plan.flag(SLEEP_SWITCH)
    return SLEEPS_BY_DEFAULT if said is None else said


def runtime_target(plan: Plan, variables: Mapping[str, str]) -> Target | None:
    """Where the sandboxes' runtime answers, as the plan or the workers' environment says."""
    url = plan.text(RUNTIME_KEY) or variables.get(RUNTIME_URL, "").strip()
    return Target.of(url) if url else None


def planned_gpu_type(plan: Plan) -> str:
    """The type of GPU that the plan asks Slurm for."""
    wanted = plan.text(GPU_TYPE)
    if wanted is None:
        raise NotApplicable(f"no GPU here, and {plan.name(GPU_TYPE)} names none")
    return wanted


def trainer_shares_gpu(plan: Plan) -> bool:
    """Whether the trainer and vLLM hold memory on one GPU. prime-rl's launcher has given each its own since 2026."""
    if not plan.is_of(*PRIME):
        return True
    lists = [plan.own[key].value for key in ("inference_gpu_ids", "trainer_gpu_ids") if key in plan.own]
    sets = [set(map(str, ids)) for ids in lists if isinstance(ids, list)]
    return len(sets) == 2 and bool(sets[0] & sets[1])
