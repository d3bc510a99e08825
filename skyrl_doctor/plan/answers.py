"""Questions that a check and `env` both ask of a plan: one answer each."""

from collections.abc import Mapping

from skyrl_doctor.plan.model import Plan
from skyrl_train.node.allocator import SLEEPS_BY_DEFAULT
from skyrl_train.node.proxy import Target

SLEEP_SWITCH = "rollout.free_cache_engine"
RUNTIME_KEY = "sandbox.runtime_url"
RUNTIME_VARIABLE = "SANDBOX_REMOTE_RUNTIME_API_URL"


def vllm_sleeps(plan: Plan) -> bool:
    """Whether vLLM gives its memory back between steps. prime-rl's trainer and its vLLM never share a GPU."""
    if plan.is_of("prime-rl"):
        return False
    said = plan.flag(SLEEP_SWITCH)
    return SLEEPS_BY_DEFAULT if said is None else said


def runtime_target(plan: Plan, variables: Mapping[str, str]) -> Target | None:
    """Where the sandboxes' runtime answers, as the plan or the workers' environment says."""
    url = plan.text(RUNTIME_KEY) or variables.get(RUNTIME_VARIABLE, "").strip()
    return Target.of(url) if url else None
