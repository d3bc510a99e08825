"""What of a plan costs GPU memory, in the names that the memory model takes: verl's own.

verl's own dialect says nearly all of them itself; the other dialects say theirs by canonical keys.
"""

from collections.abc import Mapping

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.plan.answers import PRIME, TODAYS_PRIME, trainer_shares_gpu, vllm_sleeps
from skyrl_doctor.plan.dialects.verl.names import CANONICAL
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.plan.verl_overrides import OVERRIDES, verl_words
from skyrl_train.memory import Job, MemoryModelError, UnsupportedJobError, job_from_verl
from skyrl_train.memory.prime_job import PACKED, as_prime

VERL, OURS = "verl", "run-config"
MODEL = "actor_rollout_ref.model.path"
_VERL_KEYS = {canonical: verl for verl, canonical in CANONICAL.items()}
# verl's own defaults, where they are not what a plan in another dialect means by silence.
_ELSEWHERE = {
    "algorithm.advantage": "grpo",
    "slurm.gpus_per_node": 1,
    "rollout.tensor_parallel_size": 1,
    "actor.strategy": "fsdp2",
}
TOKENS = "rollout.max_tokens"
PROMPT, RESPONSE, SEQUENCE = "data.max_prompt_tokens", "data.max_response_tokens", "data.max_sequence_tokens"

_AGAIN = {
    "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": "rollout.log_prob_micro_batch_size_per_gpu",
    "actor_rollout_ref.actor.fsdp_config.use_torch_compile": "actor.torch_compile",
    "critic.strategy": "actor.strategy",
    "critic.model.use_remove_padding": "model.remove_padding",
    "critic.model.enable_gradient_checkpointing": "model.gradient_checkpointing",
}
KNOBS = {
    "actor.micro_batch_size_per_gpu": "micro_batch",
    RESPONSE: "response_length",
    "rollout.max_model_len": "max_model_len",
    "rollout.n": "n",
    "rollout.gpu_memory_utilization": "gpu_memory_utilization",
}
"""What the memory model solves for, by canonical key."""
_FIELDS = {
    **{knob: key for key, knob in KNOBS.items()},
    "prompt_length": PROMPT,
    "mini_batch": "actor.ppo_mini_batch_size",
    "train_batch": "data.train_batch_size",
    "n_gpus": "slurm.gpus_per_node",
    "lora_rank": "model.lora_rank",
    "attention": "model.attention",
}
"""The memory model's own words, by which its errors begin."""


class Untold:
    """Stands for a value that was written and cannot be told, until the model asks for it."""

    def __init__(self, value: Value) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"{self.value.value} ({self.value.unknown})"


def memory_job(plan: Plan) -> Job:
    """The job of this plan. CouldNotLook where something that it needs cannot be told or makes no sense; NotApplicable
    where it makes sense and is not described."""
    try:
        if plan.is_of(VERL):
            return job_from_verl({key: _told(value) for key, value in plan.own.items()})
        if plan.is_of(*PRIME):
            return _prime_job(plan)
        return job_from_verl({**_in_verls_names(plan, _values(plan)), **_own_words(plan)})
    except UnsupportedJobError as error:
        raise NotApplicable(_in_own_words(plan, str(error))) from None
    except MemoryModelError as error:
        raise CouldNotLook(_in_own_words(plan, str(error))) from None


def knob_of(plan: Plan, key: str) -> str:
    """What the memory model calls this key, in whatever names the user knows it; the key itself if in none."""
    wanted = key.strip().lower().replace("-", "_")
    for canonical, knob in KNOBS.items():
        names = (canonical, plan.name(canonical), _VERL_KEYS.get(canonical, canonical))
        if wanted in {knob, *map(str.lower, names), *(name.lower().rpartition(".")[2] for name in names)}:
            return knob
    return key


def _in_own_words(plan: Plan, error: str) -> str:
    """An error of the memory model, with the key that it begins with as this plan writes it."""
    key, is_, rest = error.partition(" is ")
    canonical = CANONICAL.get(key) or _FIELDS.get(key)
    return error if canonical is None or key in verl_words(plan) else f"{plan.name(canonical)}{is_}{rest}"


def own_settings(plan: Plan, settings: Mapping[str, str]) -> dict[str, str]:
    """Settings in verl's names as this plan's dialect writes them; a dev.conf passes on what it has no name for."""
    passed_on = {key for key in settings if plan.is_of("skyrl-agent") and CANONICAL.get(key) not in plan.values}
    return {key if key in passed_on else plan.name(CANONICAL.get(key, key)): value for key, value in settings.items()}


def _values(plan: Plan) -> dict[str, object]:
    """All that the plan says, by canonical key."""
    missing = [key for key in (PROMPT, RESPONSE) if key not in plan.values]
    if missing:
        raise NotApplicable(f"the configuration does not say {' and '.join(map(plan.name, missing))}")
    return {key: _told(value) for key, value in plan.values.items()}


def _own_words(plan: Plan) -> dict[str, object]:
    words = verl_words(plan)
    if MODEL in words:
        raise NotApplicable(f"{OVERRIDES} sets {MODEL}, which is not looked at; write it as model.path")
    return {key: _told(value) for key, value in words.items()}


def _prime_job(plan: Plan) -> Job:
    """prime-rl says how long prompt and response are together, and its vLLM never gives memory back."""
    longest = _packed(plan)
    tokens = plan.integer(TOKENS)
    if tokens is not None and tokens < 1:
        raise CouldNotLook(f"{plan.name(TOKENS)} is {tokens}, wanted 1 or more")
    response = min(tokens or longest // 2, longest - 1)
    lengths: dict[str, object] = {PROMPT: longest - response, RESPONSE: response}
    said = {key: _told(value) for key, value in plan.values.items() if key != "slurm.gpus_per_node"}
    gpus = plan.integer("deployment.trainer_gpus") or 1
    job = job_from_verl(_in_verls_names(plan, {**said, **lengths, "slurm.gpus_per_node": gpus}))
    rollout = job.rollout if trainer_shares_gpu(plan) else None
    return as_prime(job, rollout, spares_logits=plan.is_of(TODAYS_PRIME))


def _packed(plan: Plan) -> int:
    """How many tokens prime-rl's trainer takes at once: its own length, which is no shorter than the orchestrator's."""
    longest, own = plan.integer(SEQUENCE), plan.own.get(PACKED)
    lengths = {plan.name(SEQUENCE): longest, PACKED: own.value if own is not None else longest}
    for key, length in lengths.items():
        if length is None:
            raise NotApplicable(f"the configuration does not say {key}")
        if not isinstance(length, int) or length < 2:
            raise CouldNotLook(f"{key} is {length!r}, wanted a prompt and a response")
    return max(length for length in lengths.values() if length is not None)


def _in_verls_names(plan: Plan, values: Mapping[str, object]) -> dict[str, object]:
    sleeps: dict[str, object] = {"rollout.free_cache_engine": vllm_sleeps(plan)}
    whole = {**_ELSEWHERE, **values, **sleeps}
    named = {_VERL_KEYS[key]: value for key, value in whole.items() if key in _VERL_KEYS}
    return {**named, **_said_again(whole)} if plan.is_of(OURS) else named


def _said_again(values: Mapping[str, object]) -> dict[str, object]:
    """Settings of ours that skyrl-train gives to verl under further keys (skyrl_train/rl/overrides.py)."""
    again = {verl: values[key] for verl, key in _AGAIN.items() if key in values}
    targets = values.get("model.lora_targets")
    if isinstance(targets, list | tuple) and targets:
        again["actor_rollout_ref.model.target_modules"] = targets[0] if len(targets) == 1 else targets
    return again


def _told(value: Value) -> object:
    return Untold(value) if value.unknown else value.value
