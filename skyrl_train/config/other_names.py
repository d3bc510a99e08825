"""The settings of SkyRL and prime-rl that a run.toml has under another name, for `skyrl-train init`. Pure.

Checks do not read them under their canonical names, so the doctor's own tables lack them.
"""

from collections.abc import Callable, Mapping

from skyrl_train.config.dialect import WITH_AGENTS
from skyrl_train.config.translate import Read

_RESUME = {"none": "disable", "null": "disable", "latest": "auto", "from_path": "path"}
_ALGORITHM = "trainer.algorithm"
Convert = Callable[[object], object]


def _same(value: object) -> object:
    return value


def _resume(value: object) -> object:
    return "disable" if value is None else _RESUME.get(str(value).lower(), value)


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _interval(value: object) -> object:
    """SkyRL's 0 validates never, as our -1."""
    return -1 if isinstance(value, int) and value < 1 else value


_SKYRL: Mapping[str, tuple[str, Convert]] = {
    f"{_ALGORITHM}.use_kl_loss": ("actor.kl_loss", _same),
    f"{_ALGORITHM}.kl_loss_coef": ("actor.kl_loss_coefficient", _same),
    f"{_ALGORITHM}.use_kl_in_reward": ("algorithm.kl_in_reward", _same),
    "trainer.update_epochs_per_batch": ("actor.ppo_epochs", _same),
    "trainer.policy.optimizer_config.max_grad_norm": ("actor.grad_clip", _same),
    "trainer.eval_interval": ("trainer.validate_every_steps", _interval),
    "trainer.eval_before_train": ("trainer.validate_first", _same),
    "trainer.resume_mode": ("trainer.resume", _resume),
    "trainer.resume_path": ("trainer.resume_from", _same),
    "trainer.project_name": ("trainer.project", _same),
    "trainer.run_name": ("trainer.experiment", _same),
    "trainer.logger": ("trainer.logger", _listed),
    "trainer.max_ckpts_to_keep": ("trainer.checkpoints_to_keep", _same),
    "trainer.seed": ("trainer.seed", _same),
}
_PRIME: Mapping[str, tuple[str, Convert]] = {
    **dict.fromkeys(("monitors.wandb.project", "wandb.project"), ("trainer.project", _same)),
    **dict.fromkeys(("monitors.wandb.name", "wandb.name"), ("trainer.experiment", _same)),
    "ckpt.interval": ("trainer.save_every_steps", _same),
    "trainer.optim.max_norm": ("actor.grad_clip", _same),
    "trainer.model.lora.alpha": ("model.lora_alpha", _same),
    "trainer.model.lora.target_modules": ("model.lora_targets", _listed),
    "orchestrator.sampling.max_tokens": ("rollout.max_tokens", _same),
    "orchestrator.sampling.temperature": ("rollout.temperature", _same),
}
_TABLES = {"skyrl": _SKYRL, "prime-rl": _PRIME, "prime-rl-2025": _PRIME}

SKYRL_DEFAULTS: Mapping[str, object] = {f"{_ALGORITHM}.use_kl_loss": True}
"""What a script of SkyRL gets without writing it, where it changes the run."""
_SKYRL_UNWRITTEN: Mapping[str, tuple[str, object]] = {
    "rollout.n": ("generator.n_samples_per_prompt", 5),
    "rollout.max_tokens": ("generator.sampling_params.max_generate_length", 1024),
    "data.max_prompt_tokens": ("trainer.max_prompt_length", 512),
    "data.train_batch_size": ("trainer.train_batch_size", 1024),
    "actor.ppo_mini_batch_size": ("trainer.policy_mini_batch_size", 256),
    "trainer.save_every_steps": ("trainer.ckpt_interval", 10),
}
"""The same for keys that the doctor's tables name."""
_INPUT, _CONTEXT, _RESPONSE = "generator.max_input_length", "rollout.max_model_len", "data.max_response_tokens"
_LORA = "trainer.model.lora."
_PRIME_LORA: Mapping[str, tuple[str, object]] = {
    "model.lora_rank": ("rank", 16),
    "model.lora_alpha": ("alpha", 32.0),
    "model.lora_targets": (
        "target_modules",
        ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    ),
}
"""What an adapter of prime-rl has without writing it. Its further targets are parts of experts and of Nemotron-H."""


def with_our_names(
    dialect: str, read: tuple[Read, ...], others: tuple[Read, ...]
) -> tuple[tuple[Read, ...], tuple[Read, ...]]:
    """The settings that a run.toml has, and the rest: those of the tables above move from the second to the first."""
    moved, left = list(read), list[Read]()
    for one in others:
        found = our_name(dialect, one.name, one.value)
        if found is None:
            left.append(one)
        else:
            value = one.value if one.unknown else found[1]
            moved.append(Read(found[0], one.name, value, one.unknown, one.place, one.is_default))
    silent = silent_defaults(dialect, frozenset(one.name for one in others))
    for name, value in silent.items():
        key = our_name(dialect, name, value)
        if key is not None:
            moved.append(Read(key[0], name, key[1]))
    dialects = dialect.split("+")
    if "skyrl" in dialects:
        read, left = tuple(moved), [one for one in left if one.name != _INPUT]
        return _with_lengths(read, next((one for one in others if one.name == _INPUT), None)), tuple(left)
    if "prime-rl" in dialects:
        moved += _adapter(tuple(moved), others)
    return tuple(moved), tuple(left)


def _with_lengths(read: tuple[Read, ...], longest: Read | None) -> tuple[Read, ...]:
    """With SkyRL's own defaults, and with its context: the longest input and one more reply."""
    found = {one.setting for one in read}
    made = (*read, *(Read(key, *value) for key, value in _SKYRL_UNWRITTEN.items() if key not in found))
    sizes = {one.setting: one.value for one in made if isinstance(one.value, int) and not one.unknown}
    prompt, reply = sizes.get("data.max_prompt_tokens"), sizes.get("rollout.max_tokens")
    before = prompt if longest is None else longest.value
    if longest and longest.unknown:
        return (*made, Read(_CONTEXT, _INPUT, longest.value, longest.unknown, longest.place))
    if not isinstance(prompt, int) or not isinstance(reply, int) or not isinstance(before, int):
        return made  # the length that could not be read is named
    whole = max(before, prompt) + reply
    name, place = (_INPUT, longest.place) if longest else (_CONTEXT, "")
    lengths = {_CONTEXT: whole, _RESPONSE: whole - prompt}
    return (*made, *(Read(key, name, value, place=place) for key, value in lengths.items() if key not in found))


def _adapter(read: tuple[Read, ...], others: tuple[Read, ...]) -> list[Read]:
    """The values that an adapter of prime-rl has without writing them."""
    if not any(one.name.startswith(_LORA) and one.place for one in (*read, *others)):
        return []
    found = {one.setting for one in read}
    return [Read(key, _LORA + name, value) for key, (name, value) in _PRIME_LORA.items() if key not in found]


def has_our_agent(dialect: str) -> bool:
    """Whether a target is of a dialect whose rollouts are agents in sandboxes too."""
    return any(one in WITH_AGENTS for one in dialect.split("+"))


def our_name(dialect: str, name: str, value: object) -> tuple[str, object] | None:
    """The key of a run.toml and its value for a setting of another framework; None if it is not in these tables."""
    for one in dialect.split("+"):
        found = _TABLES.get(one, {}).get(name)
        if found is not None:
            key, convert = found
            return key, convert(value)
    return None


def their_name(framework: str, key: str) -> str | None:
    """The first name in these tables for a key of a run.toml."""
    return next((name for name, (ours, _) in _TABLES.get(framework, {}).items() if ours == key), None)


def silent_defaults(dialect: str, written: frozenset[str]) -> dict[str, object]:
    """The defaults of the framework that the source does not write and that change the run."""
    is_skyrl = "skyrl" in dialect.split("+")
    return {name: value for name, value in SKYRL_DEFAULTS.items() if is_skyrl and name not in written}
