"""RunConfig as overrides of verl 0.9.1. Pure: verl is not imported, and equal configurations give equal overrides.

Most of it is the table skyrl_train.contracts.verl_keys; this module computes the rest.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skyrl_train.checkpoints.places import checkpoint_root
from skyrl_train.config.run import RunConfig
from skyrl_train.config.tasks import refuse_without_tasks
from skyrl_train.contracts import verl_keys
from skyrl_train.contracts.verl_keys import key_of
from skyrl_train.rl import seeds

Value = bool | int | float | str | None | list["Value"] | dict[str, "Value"]

AGENT_LOOPS = "agent_loops.yaml"
"""In the job directory: the class that runs the rollouts, for each process of verl that does."""
DECODING_GRAPHS = '{"mode": 0, "cudagraph_mode": "FULL_DECODE_ONLY"}'
"""vLLM's graphs of decoding without torch.compile: captured in seconds, where compiling takes most of a minute."""
# a quote, or the end, with the backslashes before it: others mean themselves, as in "model.lora_targets = '.*\.q_proj'"
_TO_ESCAPE = re.compile(r"(\\*)('|\Z)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run takes place: the job's directory, and the one that relative paths of its configuration begin in."""

    job_dir: str
    work_dir: str

    def of(self, path: str) -> str:
        return os.path.join(self.work_dir, os.path.expanduser(path))


def overrides(config: RunConfig, place: Place, start: Mapping[str, Value]) -> list[str]:
    """RunConfig as verl's command line. `start` is where training resumes (skyrl_train.checkpoints.resume). The
    configuration's own `trainer.verl_overrides` come last and win."""
    refuse_without_tasks(config)
    values: dict[str, Value] = dict(verl_keys.overrides(_settings(config), critic=config.needs_critic))
    for section in (_files, _engine, _critic, _trainer):
        values |= {verl_keys.hydra_key(key): value for key, value in section(config, place).items()}
    values |= {**seeds.words(config, rollout=verl_keys.R, actor=verl_keys.A), **start}
    own = config.trainer.verl_overrides
    added = {f"+{word.partition('=')[0].lstrip('+')}" for word in own if word[:1] == "+"}  # Hydra adds nothing twice
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
        "data.val_batch_size": None if data.val_files else 1,  # of no rows it would be 0, which the loader refuses
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
    return {**loops, **graphs, **alone}


def _critic(config: RunConfig, place: Place) -> dict[str, Value]:
    """verl builds the critic's settings of every run, and must not find half of them: only whole ones are written."""
    critic, model = config.critic, config.model
    if not config.needs_critic:
        return {"critic.enable": False}
    return {
        "critic.enable": True,
        key_of("critic.path"): _local(critic.path or model.path, place),
        "critic.model.tokenizer_path": _local(model.tokenizer or critic.path or model.path, place),
    }


def _trainer(config: RunConfig, place: Place) -> dict[str, Value]:
    trainer = config.trainer
    return {
        # where steps are counted, the number of passes ends nothing
        key_of("trainer.epochs"): max(trainer.epochs, trainer.steps or 0),
        key_of("trainer.checkpoint_dir"): checkpoint_root(config, place.work_dir),
    }


def _local(path: str, place: Place) -> str:
    """A directory of this machine by its whole path; the name of a model on the hub as it is."""
    found = place.of(path)
    return found if os.path.isdir(found) else path
