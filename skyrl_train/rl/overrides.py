"""Translates a RunConfig into overrides of verl 0.9.1. Pure: verl is not imported.

Most of it is the table skyrl_train.contracts.verl_keys; this module computes the rest.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skyrl_train.checkpoints.places import checkpoint_root
from skyrl_train.config.rollout_gpus import verl_values
from skyrl_train.config.run import RunConfig
from skyrl_train.config.tasks import refuse_without_tasks
from skyrl_train.contracts import verl_keys
from skyrl_train.contracts.verl_keys import key_of
from skyrl_train.rl import seeds

Value = bool | int | float | str | None | list["Value"] | dict[str, "Value"]

AGENT_LOOPS = "agent_loops.yaml"
"""A file in the job directory that names the class of the agent loop for verl."""
DECODING_GRAPHS = '{"mode": 0, "cudagraph_mode": "FULL_DECODE_ONLY"}'
"""vLLM's CUDA graphs for decoding without torch.compile: captured in seconds, while compiling takes almost a minute."""
VALUE_MODEL = "skyrl_train.rl.value_model.ValueModelConfig"
"""Its module has the critic's engine, which keeps to the configured attention."""
WORKER = "skyrl_train.rl.vllm_worker.Worker"
"""Names the parameters that a weight sync left out."""
# a quote or the end, with the backslashes before it; other backslashes are literal, as in '.*\.q_proj'
_TO_ESCAPE = re.compile(r"(\\*)('|\Z)")


@dataclass(frozen=True, slots=True)
class Place:
    """The directories of a run: the job directory, and the base of relative paths in its configuration."""

    job_dir: str
    work_dir: str

    def of(self, path: str) -> str:
        return os.path.join(self.work_dir, os.path.expanduser(path))


def overrides(config: RunConfig, place: Place, start: Mapping[str, Value]) -> list[str]:
    """The overrides for verl's command line.

    `start` holds those of the checkpoint to resume from (skyrl_train.checkpoints.resume). `trainer.verl_overrides` come
    last and take precedence.
    """
    refuse_without_tasks(config)
    values: dict[str, Value] = dict(verl_keys.overrides(_settings(config), critic=config.needs_critic))
    for section in (_files, _engine, _critic, _trainer, _validation, _rollout_gpus):
        values |= {verl_keys.hydra_key(key): value for key, value in section(config, place).items()}
    values |= {**seeds.words(config, rollout=verl_keys.R, actor=verl_keys.A), **start}
    own = config.trainer.verl_overrides
    added = {
        f"+{word.partition('=')[0].lstrip('+')}" for word in own if word[:1] == "+"
    }  # Hydra refuses to add a key twice
    return [*(f"{key}={text(value)}" for key, value in values.items() if key not in added), *own]


def text(value: Value) -> str:
    """A value in Hydra's grammar."""
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "null"
        case str():
            return "'" + _TO_ESCAPE.sub(lambda run: 2 * run[1] + run[2].replace("'", r"\'"), value) + "'"
        case list():
            return f"[{','.join(map(text, value))}]"
        case dict():
            return "{" + ",".join(f"{key}:{text(inner)}" for key, inner in value.items()) + "}"
    return repr(value)


def _settings(config: RunConfig) -> dict[str, Any]:
    """The values of the table's settings that RunConfig has."""
    found: dict[str, Any] = {}
    for key in verl_keys.KEYS:
        section, _, name = key.ours.partition(".")
        if key.is_written:
            found[key.ours] = getattr(getattr(config, section), name)
    return found


def _files(config: RunConfig, place: Place) -> dict[str, Value]:
    data, model = config.data, config.model
    return {
        key_of("model.path"): _local(model.path, place),
        key_of("model.tokenizer"): None if model.tokenizer is None else _local(model.tokenizer, place),
        key_of("data.train_files"): [place.of(path) for path in data.train_files],
        key_of("data.val_files"): [place.of(path) for path in data.val_files],
        "data.val_batch_size": None if data.val_files else 1,  # the default of 0 for no rows is refused by the loader
    }


def _engine(config: RunConfig, place: Place) -> dict[str, Value]:
    """A model on one GPU needs no process beside its engine's: each imports torch for many seconds."""
    rollout = config.rollout
    loops: dict[str, Value] = {
        f"{verl_keys.R}.agent.agent_loop_config_path": os.path.join(place.job_dir, AGENT_LOOPS),
        verl_keys.SAMPLER_JOB: place.job_dir,
    }
    graphs: dict[str, Value] = {} if rollout.enforce_eager else {verl_keys.GRAPHS: DECODING_GRAPHS}
    alone: dict[str, Value] = {verl_keys.EXECUTOR: "uni"} if rollout.tensor_parallel_size == 1 else {}
    proven: dict[str, Value] = {verl_keys.WORKER: WORKER} if config.trainer.prove_weights else {}
    return {**loops, **graphs, **alone, **proven}


def _critic(config: RunConfig, place: Place) -> dict[str, Value]:
    """The critic's settings. Without a critic they are left out, since verl would build them and fail on a part."""
    critic, model = config.critic, config.model
    if not config.needs_critic:
        return {"critic.enable": False}
    return {
        "critic.enable": True,
        "critic.model._target_": VALUE_MODEL,
        key_of("critic.path"): _local(critic.path or model.path, place),
        "critic.model.tokenizer_path": _local(model.tokenizer or critic.path or model.path, place),
    }


def _trainer(config: RunConfig, place: Place) -> dict[str, Value]:
    trainer = config.trainer
    corrected: dict[str, Value] = {} if trainer.mode == "sync" else {verl_keys.CORRECTION: "token"}
    return {
        **corrected,
        # if steps are set, the number of epochs must not end the run
        key_of("trainer.epochs"): max(trainer.epochs, trainer.steps or 0),
        key_of("trainer.checkpoint_dir"): checkpoint_root(config, place.work_dir),
    }


def _validation(config: RunConfig, place: Place) -> dict[str, Value]:
    """Several rollouts of a task are sampled as in training: verl's greedy ones would all be the same."""
    del place
    rollout = config.rollout
    if config.trainer.validate_samples == 1:
        return {}
    key = f"{verl_keys.R}.val_kwargs"
    return {
        f"{key}.do_sample": rollout.temperature > 0,
        f"{key}.temperature": rollout.temperature,
        f"{key}.top_p": rollout.top_p,
        f"{key}.top_k": rollout.top_k,
    }


def _rollout_gpus(config: RunConfig, place: Place) -> dict[str, Value]:
    """The GPUs of each part if rollouts have their own. An adapter is sent as part of the weights, since verl sends no adapter."""
    del place
    if config.split is None:
        return {}
    merged: dict[str, Value] = {verl_keys.MERGED: True} if config.model.lora_rank else {}
    return {
        **merged,
        **verl_values(config.split),
        verl_keys.UPDATES: 1,
    }


def _local(path: str, place: Place) -> str:
    """The full path of a local directory, or the unchanged name of a hub model."""
    found = place.of(path)
    return found if os.path.isdir(found) else path
