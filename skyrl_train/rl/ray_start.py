"""Ray, started with the one environment that all its workers have; the first task says whether they have it (RUN002)."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ray
from omegaconf import DictConfig, OmegaConf
from verl.trainer.constants_ppo import get_ppo_ray_runtime_env

from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.errors import TrainError
from skyrl_train.node.ray import ADDRESS, OWN_CLUSTER, starts_own_cluster
from skyrl_train.node.ray_env import needs, unproven, worker_variables
from skyrl_train.rl import seeds

FIRST_TASK_S = 300.0
SIZES = ("num_cpus", "num_gpus", "object_store_memory")


@dataclass(frozen=True, slots=True)
class Proof:
    """What the first task was asked: whether it has the variables that it should have."""

    wanted: Mapping[str, str]
    salt: str
    answer: Any

    def hold(self) -> None:
        """Waits for the answer. TrainError where a variable did not arrive."""
        faults = unproven(self.wanted, ray.get(self.answer, timeout=FIRST_TASK_S), self.salt)
        if faults:  # FIX(RUN002)
            raise TrainError(f"RUN002: {'; '.join(faults)}")


def begin(settings: DictConfig, config: RunConfig) -> Proof:
    """Starts Ray and its first task; whoever begins something else meanwhile asks for the proof after that."""
    wanted = {need.name: os.environ.get(need.name, "") for need in needs(os.environ, config.env)} | config.env
    words = init_words(settings, config)
    if starts_own_cluster(os.environ):
        del os.environ[ADDRESS]  # the workers inherit it, and what they start would begin a cluster of its own
    ray.init(**words)

    def marks(names: list[str], salt: str) -> dict[str, str]:
        # Sent by value: by its name, the worker would import this module first, and torch and verl with it.
        import os

        from skyrl_train.node.ray_env import fingerprints

        return fingerprints(os.environ, names, salt)

    salt = secrets.token_hex(16)
    return Proof(wanted, salt, ray.remote(num_cpus=0)(marks).remote(list(wanted), salt))


def init_words(settings: DictConfig, config: RunConfig) -> dict[str, Any]:
    """What ray.init is given: verl's own words and environment, with the configuration's over them."""
    words: dict[str, Any] = OmegaConf.to_container(settings.ray_kwargs.ray_init, resolve=True)
    given = {name: value for name, value in words.pop("runtime_env", {}).items() if value}
    joins = bool(os.environ.get(ADDRESS)) and not starts_own_cluster(os.environ)
    if joins:  # what a cluster has, those said who started it
        words = {name: value for name, value in words.items() if name not in SIZES}
    else:
        words["address"] = OWN_CLUSTER  # FIX(ENV009): without it ray.init() joins whatever cluster it finds on the node
    ours = worker_variables(os.environ, config.env, {} if joins else os.environ)
    environment = get_ppo_ray_runtime_env(settings)
    variables = {
        **environment["env_vars"],
        "TRANSFER_QUEUE_ENABLE": "1",
        **seeds.workers(config),
        **ours,
        **given.pop("env_vars", {}),
    }
    return {**words, "runtime_env": {**environment, **given, "env_vars": variables}}
