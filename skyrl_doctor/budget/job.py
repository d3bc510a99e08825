"""The memory model's job of a plan. Settings become verl's keys by the table of skyrl_train.contracts.verl_keys."""

from collections.abc import Mapping
from dataclasses import replace

from skyrl_doctor.budget.prime_nodes import count_of, inference_nodes, refuse_divided_experts
from skyrl_doctor.budget.sft_job import SETTINGS as SFT_SETTINGS
from skyrl_doctor.budget.sft_job import is_sft, sft_job
from skyrl_doctor.budget.skyrl_job import is_sft as is_skyrl_sft
from skyrl_doctor.budget.skyrl_job import skyrl_job
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable, UsageError
from skyrl_doctor.plan.answers import PRIME, TODAYS_PRIME, split_of_plan, trainer_shares_gpu, vllm_sleeps
from skyrl_doctor.plan.keys import NO_TRAINING
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.plan.verl_overrides import OVERRIDES, verl_overrides
from skyrl_train.config.rollout_gpus import verl_values
from skyrl_train.contracts.verl_keys import by_verl, key_of, written
from skyrl_train.memory import Job, MemoryModelError, Rollout, UnsupportedJobError, job_from_verl
from skyrl_train.memory.changes import REFERENCE_MICRO_BATCH
from skyrl_train.memory.prime_job import PACKED, as_prime, part_job, trains, with_model_settings

VERL, OURS, SKYRL, PRIME_PART = "verl", "run-config", "skyrl", "prime-rl-part"
MODEL = key_of("model.path")
_DEFAULTS = {
    "algorithm.advantage": "grpo",
    "slurm.gpus_per_node": 1,
    "rollout.tensor_parallel_size": 1,
    "actor.strategy": "fsdp2",
}
"""Defaults of the other dialects that differ from verl's own."""
TOKENS = "rollout.max_tokens"
PROMPT, RESPONSE, SEQUENCE = "data.max_prompt_tokens", "data.max_response_tokens", "data.max_sequence_tokens"

GPU_KEYS = ("trainer.n_gpus_per_node", "trainer.placement.policy_num_gpus_per_node", "placement.num_gpus_per_node", "deployment.num_gpus")  # fmt: skip
NODE_KEYS = ("trainer.nnodes", "trainer.placement.policy_num_nodes", "placement.num_nodes")
"""Where the frameworks have the GPUs of the trainer."""

KNOBS = {
    "actor.micro_batch_size_per_gpu": "micro_batch",
    RESPONSE: "response_length",
    "rollout.max_model_len": "max_model_len",
    "rollout.n": "n",
    "rollout.gpu_memory_utilization": "gpu_memory_utilization",
}
"""The settings that the memory model solves for, and its names of them."""
_FIELDS = {
    **{knob: key for key, knob in KNOBS.items()},
    "prompt_length": PROMPT,
    "mini_batch": "actor.ppo_mini_batch_size",
    "train_batch": "data.train_batch_size",
    "n_gpus": "slurm.gpus_per_node",
    "lora_rank": "model.lora_rank",
    "sequence_parallel": "actor.sequence_parallel_size",
    "tensor_parallel": "rollout.tensor_parallel_size",
    "attention": "model.attention",
}
"""The memory model's own names, with which its errors begin."""
PRIME_TODAY = {"inference.gpu_memory_utilization": "inference.vllm.gpu_memory_utilization"}
"""prime-rl's keys in the memory model that have another name since July 2026 (plan/defaults/prime_rl_renames.json)."""
NODE_OF_PRIME = 8
"""deployment.gpus_per_node, if a run of several nodes does not set it."""
OTHER_GPUS, OF_THE_TRAINER = "change it or the number of GPUs", " of the trainer"
"""How the memory model's refusals end where a size does not divide the GPUs."""
MULTIPLE = "pass --gpus with a multiple of it"
_DIVIDE = ("sequence_parallel", "tensor_parallel")
"""Sizes that must divide the number of GPUs, which the user may have given apart from the configuration."""


class Unresolved:
    """Stands for a written value that cannot be resolved here, until the model asks for it."""

    def __init__(self, value: Value) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"{self.value.value} ({self.value.unknown})"


def memory_job(plan: Plan, *, gpus: int | None = None) -> Job:
    """The job of this plan, on `gpus` GPUs if given. CouldNotLook where a needed value is unknown or invalid;
    NotApplicable where the memory model does not describe it."""
    try:
        return _job(plan, {} if gpus is None else {**dict.fromkeys(GPU_KEYS, gpus), **dict.fromkeys(NODE_KEYS, 1)})
    except UnsupportedJobError as error:
        raise NotApplicable(_with_own_key(plan, str(error))) from None
    except MemoryModelError as error:
        raise CouldNotLook(_with_other_gpus(_with_own_key(plan, str(error)), gpus)) from None


def _with_other_gpus(refusal: str, gpus: int | None) -> str:
    """The refusal of a size that does not divide the GPUs, with the option that the user has for it."""
    if refusal.endswith(OF_THE_TRAINER):
        return f"{refusal}; {MULTIPLE}"
    return refusal if gpus is None else refusal.replace(OTHER_GPUS, MULTIPLE)


def is_of_training(plan: Plan) -> bool:
    """Whether the plan trains a model, and needs one therefore."""
    return NO_TRAINING not in plan.own and (not plan.is_of(PRIME_PART) or trains(plan.own))


def _job(plan: Plan, given: Mapping[str, object]) -> Job:
    if NO_TRAINING in plan.own:
        raise NotApplicable(f"{plan.own[NO_TRAINING].value} trains no model; pass a script that trains one")
    own: dict[str, object] = {**{key: _resolved(value) for key, value in plan.own.items()}, **given}
    if plan.is_of(SKYRL):
        return skyrl_job(own)
    if plan.is_of(VERL):
        return sft_job(own, _gpus(plan, given)) if is_sft(own) else job_from_verl(own)
    if plan.is_of(PRIME_PART):
        return part_job(own)
    if plan.is_of(*PRIME):
        return _prime_job(plan, _gpus(plan, given))
    return job_from_verl({**_as_verl(plan, _values(plan)), **_overrides(plan), **given})


def _gpus(plan: Plan, given: Mapping[str, object]) -> int | None:
    """The number of the trainer's GPUs, if the plan or the user gives it."""
    found = given.get(GPU_KEYS[0])
    if isinstance(found, int):
        return found
    if plan.is_of(*PRIME) and _is_on_nodes(plan):
        return _on_nodes(plan, "num_train_nodes")
    key = "deployment.trainer_gpus" if plan.is_of(*PRIME) else "slurm.gpus_per_node"
    value = plan.values.get(key)
    if value is not None and value.unknown:
        raise CouldNotLook(f"{plan.name(key)} is {value.value!r}: {value.unknown}; pass --gpus N")
    return plan.integer(key)


def _is_on_nodes(plan: Plan) -> bool:
    """Whether a file of prime-rl counts nodes and not GPUs."""
    kind = plan.own.get("deployment.type")
    return kind is not None and kind.value == "multi_node"


def _on_nodes(plan: Plan, name: str) -> int:
    """The GPUs of these nodes of a prime-rl file."""
    key = f"deployment.{name}"
    if key not in plan.own:
        raise CouldNotLook(f"{key} is not set; pass --gpus N")
    return count_of(plan, key, 0) * _gpus_of_a_node(plan)


def _gpus_of_a_node(plan: Plan) -> int:
    return count_of(plan, "deployment.gpus_per_node", NODE_OF_PRIME)


def knob_of(plan: Plan, key: str) -> str:
    """The memory model's name of a key that the user wrote in any of its names; the key itself if it is unknown."""
    asked = key.strip().lower().replace("-", "_")
    for setting, knob in KNOBS.items():
        names = (setting, plan.name(setting), key_of(setting))
        if asked in {knob, *map(str.lower, names), *(name.lower().rpartition(".")[2] for name in names)}:
            if knob == "micro_batch" and plan.is_of(*PRIME):
                raise UsageError(
                    f"prime-rl packs micro batches of {PACKED} tokens, so micro_batch changes nothing; solve for response_length"
                )
            return knob
    return key


def own_settings(plan: Plan, settings: Mapping[str, str]) -> dict[str, str]:
    """Settings with verl's keys as this plan's dialect writes them; keys that the table lacks stay as they are."""
    if plan.is_of(VERL) and is_sft(plan.own):
        return {SFT_SETTINGS[key]: value for key, value in settings.items() if key in SFT_SETTINGS}
    found: dict[str, str] = {}
    for verls, value in settings.items():
        key = PRIME_TODAY.get(verls, verls) if plan.is_of(TODAYS_PRIME) else verls
        row = by_verl(key)
        if row is not None:
            found.update(plan.settings({row.ours: value}))
        elif not plan.is_of(SKYRL) and not (plan.is_of(OURS) and key == REFERENCE_MICRO_BATCH):
            found[key] = value
    return _of_skyrls_sft(found) if plan.is_of(SKYRL) and is_skyrl_sft(plan.own) else found


def _of_skyrls_sft(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings of SkyRL's trainer as its fine-tuning program names them, without those of rollouts."""
    trainers = {key: value for key, value in settings.items() if key.startswith("trainer.")}
    return {key.removeprefix("trainer.").removeprefix("policy."): value for key, value in trainers.items()}


def _with_own_key(plan: Plan, error: str) -> str:
    """An error of the memory model, with the key that it begins with as this plan writes it."""
    key, is_, rest = error.partition(" is ")
    row = by_verl(key)
    setting = row.ours if row is not None and row.is_read else _FIELDS.get(key)
    if setting is None or key in verl_overrides(plan):
        return error
    place = plan.place(setting) if key in _DIVIDE else None
    where = f" ({place.file}:{place.line})" if place is not None and place.line is not None else ""
    return f"{plan.name(setting)}{where}{is_}{rest}"


def _values(plan: Plan) -> dict[str, object]:
    """All values of the plan by canonical key."""
    missing = [key for key in (PROMPT, RESPONSE) if key not in plan.values]
    if missing:
        raise NotApplicable(_without_lengths(plan, [plan.name(key) for key in missing]))
    return {key: _resolved(value) for key, value in plan.values.items()}


def _without_lengths(plan: Plan, names: list[str]) -> str:
    one = len(names) == 1
    refusal = (
        f"{' and '.join(names)} {'is' if one else 'are'} not set; pass the file that sets {'it' if one else 'them'} too"
    )
    if not all(map(str.isupper, names)):
        return refusal
    lines = f"line{'' if one else 's'} {' and '.join(f'{name}=N' for name in names)}"
    is_yaml = any(target.endswith((".yaml", ".yml")) for target in plan.targets)
    return (
        f"{refusal}, or a file with the {lines}" if is_yaml else f"{refusal}, or add the {lines} at the top of a copy"
    )


def _overrides(plan: Plan) -> dict[str, object]:
    overrides = verl_overrides(plan)
    if MODEL in overrides:
        raise NotApplicable(f"{OVERRIDES} sets {MODEL}, which the memory model ignores; set model.path instead")
    return {key: _resolved(value) for key, value in overrides.items()}


def _prime_job(plan: Plan, trainers: int | None) -> Job:
    """prime-rl sets the length of prompt and response together, and its vLLM never gives memory back."""
    longest = _packed(plan)
    tokens = plan.integer(TOKENS)
    if tokens is not None and tokens < 1:
        raise CouldNotLook(f"{plan.name(TOKENS)} is {tokens}; expected 1 or more")
    response = min(tokens or longest // 2, longest - 1)
    lengths: dict[str, object] = {PROMPT: longest - response, RESPONSE: response}
    values = {key: _resolved(value) for key, value in plan.values.items() if key != "slurm.gpus_per_node"}
    gpus = trainers or 1
    tensor = plan.integer("rollout.tensor_parallel_size") or 1
    verl = {**values, **lengths, "slurm.gpus_per_node": gpus, "rollout.tensor_parallel_size": 1}
    job = _of_rollouts(plan, job_from_verl(_as_verl(plan, verl)))
    rollout = _prime_rollout(plan, job, tensor)
    own = {key: _resolved(value) for key, value in plan.own.items()}
    return with_model_settings(
        as_prime(job, rollout, spares_logits=plan.is_of(TODAYS_PRIME)), own, "trainer.model", gpus=gpus
    )


def _of_rollouts(plan: Plan, job: Job) -> Job:
    """The job with prime-rl's batch, which counts rollouts and not prompts, and is one update."""
    rollouts = plan.integer("data.train_batch_rollouts")
    prompts = job.mini_batch if rollouts is None else max(1, rollouts // job.n)
    return replace(job, mini_batch=prompts, train_batch=prompts)


def _prime_rollout(plan: Plan, job: Job, tensor: int) -> Rollout | None:
    """vLLM as prime-rl runs it: on GPUs of its own since 2026, if the file has them."""
    if job.rollout is None or trainer_shares_gpu(plan):
        return job.rollout
    gpus = plan.integer("deployment.inference_gpus")
    if _is_on_nodes(plan):
        gpus = inference_nodes(plan) * _gpus_of_a_node(plan)
    refuse_divided_experts(plan)
    if gpus == 0 or not plan.is_of(TODAYS_PRIME):
        return None
    return replace(job.rollout, tensor_parallel=tensor, separate=True, gpus=gpus)


def _packed(plan: Plan) -> int:
    """The tokens that prime-rl's trainer takes at once: its own length, which is no shorter than the orchestrator's."""
    longest, own = plan.integer(SEQUENCE), plan.own.get(PACKED)
    lengths = {plan.name(SEQUENCE): longest, PACKED: own.value if own is not None else longest}
    for key, length in lengths.items():
        if length is None:
            raise NotApplicable(f"{key} is not set")
        if not isinstance(length, int) or length < 2:
            raise CouldNotLook(f"{key} is {length!r}; expected at least 2 tokens, for prompt and response")
    return max(length for length in lengths.values() if length is not None)


def _as_verl(plan: Plan, values: Mapping[str, object]) -> dict[str, object]:
    """Values by verl's keys. Our trainer writes some settings under several keys; other programs do not."""
    sleeps: dict[str, object] = {"rollout.free_cache_engine": vllm_sleeps(plan)}
    parts = split_of_plan(plan)
    own = {} if parts is None else verl_values(parts)
    return dict(written({**_DEFAULTS, **values, **sleeps}, also=plan.is_of(OURS))) | own


def _resolved(value: Value) -> object:
    return Unresolved(value) if value.unknown else value.value
