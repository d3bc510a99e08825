"""Ray, started with the one environment that all its workers have; the first task says whether they have it (RUN002)."""

import os
import secrets
from typing import Any

import ray
from omegaconf import DictConfig, OmegaConf
from verl.trainer.constants_ppo import get_ppo_ray_runtime_env

from skyrl_train.config.run import RunConfig
from skyrl_train.fail import TrainError
from skyrl_train.node.ray import ADDRESS, starts_own_cluster
from skyrl_train.node.ray_env import fingerprints, needs, unproven, worker_variables

FIRST_TASK_S = 300.0
SIZES = ("num_cpus", "num_gpus", "object_store_memory")


def begin(settings: DictConfig, config: RunConfig) -> None:
    wanted = {need.name: os.environ.get(need.name, "") for need in needs(os.environ, config.env)} | config.env
    words = init_words(settings, config)
    ray.init(**words)
    salt = secrets.token_hex(16)
    seen = ray.get(ray.remote(num_cpus=0)(_marks).remote(list(wanted), salt), timeout=FIRST_TASK_S)
    faults = unproven(wanted, seen, salt)
    if faults:  # FIX(RUN002)
        raise TrainError(f"RUN002: {'; '.join(faults)}")


def init_words(settings: DictConfig, config: RunConfig) -> dict[str, Any]:
    """What ray.init is given: verl's own words and environment, with the configuration's over them."""
    words: dict[str, Any] = OmegaConf.to_container(settings.ray_kwargs.ray_init, resolve=True)
    given = {name: value for name, value in words.pop("runtime_env", {}).items() if value}
    joins = bool(os.environ.get(ADDRESS)) and not starts_own_cluster(os.environ)
    if joins:  # what a cluster has, those said who started it
        words = {name: value for name, value in words.items() if name not in SIZES}
    else:
        words["address"] = "local"  # FIX(ENV009): without it ray.init() joins whatever cluster it finds on the node
    ours = worker_variables(os.environ, config.env, {} if joins else os.environ)
    environment = get_ppo_ray_runtime_env(settings)
    variables = {**environment["env_vars"], "TRANSFER_QUEUE_ENABLE": "1", **ours, **given.pop("env_vars", {})}
    return {**words, "runtime_env": {**environment, **given, "env_vars": variables}}


def _marks(names: list[str], salt: str) -> dict[str, str]:
    return fingerprints(os.environ, names, salt)
