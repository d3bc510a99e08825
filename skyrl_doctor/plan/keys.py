"""The name of a setting for the user: in our TOML, a dev.conf or task YAML, a verl command line, a prime-rl TOML.

A check or rule names settings by canonical key: a dotted name of RunConfig, or of EXTRA. This module alone translates it.
"""

from collections.abc import Callable, Mapping

from skyrl_train.contracts import verl_keys

EXTRA = {
    "data.max_sequence_tokens": "tokens of prompt and response together that are trained on (prime-rl)",
    "data.train_batch_rollouts": "rollouts a training step, of all prompts together (prime-rl)",
    "agent.trajectories": "rollouts a prompt, where the agent sets it apart from rollout.n (SkyRL-agent)",
    "agent.max_response_tokens": "tokens of a whole rollout after the prompt, where the agent sets it itself (SkyRL-agent)",
    "trainer.use_v1": "whether verl's V1 trainer runs",
    "trainer.wandb_offline": "whether wandb keeps its records on disk",
    "rollout.engine": "vllm, sglang or another",
    "deployment.inference_gpus": "GPUs for inference alone (prime-rl, verl's asynchronous trainers)",
    "deployment.trainer_gpus": "GPUs for training alone (prime-rl)",
    "agent.enable_thinking": "whether the chat template opens a thinking block (SkyRL-agent)",
}
"""Canonical keys that RunConfig lacks: what other dialects set and RunConfig sets in another way."""

OTHER_PROGRAM = "other_program"
"""The module of a program that takes SkyRL's keys and is not SkyRL's own: it may check settings in another way."""
VALIDATES = "other_program_validates"
"""That the file of another program calls the framework's own check of the settings."""
NO_TRAINING = "no_training"
"""An own value of a plan: the module of its program, if that generates or scores replies and trains nothing."""
MAY_SET = " may set it"
"""Part of the reason of a default that words of the command may change, but that could not be read."""
STARTS_RAY = "ray start"
"""An own value of a plan whose job script was read: whether it starts a Ray cluster."""
TAKES_ANY_BATCH = "verl.takes_any_mini_batch"
"""An own value of a plan whose verl, from before 0.3, compares no mini batch with the train batch."""
TAKES_LARGER_MINI_BATCH = "verl.takes_larger_mini_batch"
"""An own value of a plan whose own verl lacks that comparison, or has it in a comment: the file that should have it."""


def key_in(dialect: str, key: str) -> str | None:
    """A canonical key as a dialect writes it; None where the dialect has no such setting. `a+b`: the first that has it.

    Without a configuration (`none`) it is the key of our TOML.
    """
    found = (_NAMES[one](key) for one in dialect.split("+"))
    return next((name for name in found if name is not None), None)


def value_in(dialect: str, key: str, value: str) -> str:
    """The value of a canonical key as a dialect writes it."""
    row = verl_keys.by_setting(key) if "verl" in dialect.split("+") else None
    return str(row.to_verl(value)) if row is not None and row.words else value


def _ours(key: str) -> str | None:
    from skyrl_doctor.plan.dialects.schema import rules

    return key if key in rules() else None


def _verl(key: str) -> str | None:
    row = verl_keys.by_setting(key)
    return row.verl if row is not None else None


def _skyrl_agent(key: str) -> str | None:
    """SkyRL-agent passes on to verl what its own files have no name for."""
    from skyrl_doctor.plan.names.skyrl_agent import name_of

    return name_of(key) or _verl(key)


def _skyrl(key: str) -> str | None:
    from skyrl_doctor.plan.names.skyrl import name_of

    return name_of(key)


def _prime(table: str) -> Callable[[str], str | None]:
    def named(key: str) -> str | None:
        from skyrl_doctor.plan.names.prime_rl import table as stored_table

        names: Mapping[str, str] = stored_table(table)["names"]
        return next((own for own, canonical in names.items() if canonical == key), None)

    return named


_NAMES: Mapping[str, Callable[[str], str | None]] = {
    "none": _ours,
    "run-config": _ours,
    "verl": _verl,
    "skyrl-agent": _skyrl_agent,
    "skyrl": _skyrl,
    "prime-rl": _prime("prime_rl.json"),
    "prime-rl-2025": _prime("prime_rl_2025.json"),
    "prime-rl-part": lambda _: None,
}
