"""Ray, started with the one environment that all its workers have; the first task says whether they have it (RUN002)."""

import os
from collections.abc import Mapping
from typing import Any

import ray
from omegaconf import DictConfig, OmegaConf
from verl.trainer.constants_ppo import get_ppo_ray_runtime_env

from skyrl_train.config.run import RunConfig
from skyrl_train.fail import TrainError

FIRST_TASK_S = 300.0


def begin(settings: DictConfig, config: RunConfig) -> None:
    words = init_words(settings, config)
    ray.init(**words)
    wanted = words["runtime_env"]["env_vars"]
    seen = ray.get(ray.remote(num_cpus=0)(_environment).remote(list(wanted)), timeout=FIRST_TASK_S)
    missing = [name for name, value in wanted.items() if seen.get(name) != value]
    if missing:  # FIX(RUN002)
        raise TrainError(f"RUN002: Ray's workers do not have {', '.join(sorted(missing))} as the driver has them")


def init_words(settings: DictConfig, config: RunConfig) -> dict[str, Any]:
    """What ray.init is given: verl's own words and environment, with the configuration's over them."""
    words: dict[str, Any] = OmegaConf.to_container(settings.ray_kwargs.ray_init, resolve=True)
    given = {name: value for name, value in words.pop("runtime_env", {}).items() if value}
    environment = get_ppo_ray_runtime_env(settings)
    variables = {**environment["env_vars"], "TRANSFER_QUEUE_ENABLE": "1", **config.env, **given.pop("env_vars", {})}
    return {**words, "runtime_env": {**environment, **given, "env_vars": variables}}


def _environment(names: list[str]) -> Mapping[str, str | None]:
    return {name: os.environ.get(name) for name in names}
