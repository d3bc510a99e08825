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
    "orchestrator.sampling.max_tokens": ("rollout.max_tokens", _same),
    "orchestrator.sampling.temperature": ("rollout.temperature", _same),
}
_TABLES = {"skyrl": _SKYRL, "prime-rl": _PRIME, "prime-rl-2025": _PRIME}

SKYRL_DEFAULTS: Mapping[str, object] = {f"{_ALGORITHM}.use_kl_loss": True}
"""What a script of SkyRL gets without writing it, where it changes the run."""


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
    return tuple(moved), tuple(left)


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
