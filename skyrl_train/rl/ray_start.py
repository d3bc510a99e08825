"""Starts Ray with the environment that all workers need; a first task checks that it arrived (RUN002)."""

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
from skyrl_train.node.limits import ray_num_cpus
from skyrl_train.node.ray import ADDRESS, OWN_CLUSTER, starts_own_cluster
from skyrl_train.node.ray_cluster import share_of
from skyrl_train.node.ray_env import needs, unproven, worker_variables
from skyrl_train.rl import seeds
from skyrl_train.rl.forks import launcher
from skyrl_train.rl.forks.start import Forks

FIRST_TASK_S = 300.0
SIZES = ("num_cpus", "num_gpus", "object_store_memory")


@dataclass(frozen=True, slots=True)
class Proof:
    """The pending answer of the first task about its variables."""

    expected: Mapping[str, str]
    salt: str
    answer: Any

    def hold(self) -> None:
        """Waits for the answer. TrainError if a variable did not arrive."""
        faults = unproven(self.expected, ray.get(self.answer, timeout=FIRST_TASK_S), self.salt)
        if faults:  # FIX(RUN002)
            raise TrainError(f"RUN002: {'; '.join(faults)}")


def begin(settings: DictConfig, config: RunConfig, forks: Forks | None = None) -> Proof:
    """Starts Ray and its first task. Call `hold` on the result later, so that other work can run meanwhile."""
    expected = {need.name: os.environ.get(need.name, "") for need in needs(os.environ, config.env)} | config.env
    words = init_words(settings, config)
    if forks:
        words["runtime_env"] = copies(forks, words["runtime_env"])
    if starts_own_cluster(os.environ):
        del os.environ[ADDRESS]  # workers inherit it, and their children would start a cluster of their own
    ray.init(**words)

    def marks(names: list[str], salt: str) -> dict[str, str]:
        # Sent by value: by reference the worker would first import this module, and with it torch and verl.
        import os

        from skyrl_train.node.ray_env import fingerprints

        return fingerprints(os.environ, names, salt)

    salt = secrets.token_hex(16)
    return Proof(expected, salt, ray.remote(num_cpus=0)(marks).remote(list(expected), salt))


def copies(forks: Forks, environment: dict[str, Any]) -> dict[str, Any]:
    """The runtime environment in which Ray's workers are copies of the fork server; unchanged if it names a Python already."""
    if "py_executable" in environment:
        return environment
    variables = {**environment["env_vars"], launcher.SOCKET: forks.socket}
    return {**environment, "py_executable": forks.program, "env_vars": variables}


def cpus(config: RunConfig) -> int:
    """The CPUs that a cluster of this node alone counts: those of the job, or more if verl requests more."""
    usable = ray_num_cpus(os.environ, usable=len(os.sched_getaffinity(0)))
    return share_of(cpus=usable, gpus=config.slurm.gpus_per_node).cpus


def init_words(settings: DictConfig, config: RunConfig) -> dict[str, Any]:
    """The arguments of ray.init: verl's arguments and environment, with the configuration's over them."""
    words: dict[str, Any] = OmegaConf.to_container(settings.ray_kwargs.ray_init, resolve=True)
    given = {name: value for name, value in words.pop("runtime_env", {}).items() if value}
    joins = bool(os.environ.get(ADDRESS)) and not starts_own_cluster(os.environ)
    if joins:  # the size of a running cluster is fixed
        words = {name: value for name, value in words.items() if name not in SIZES}
    else:
        words |= {} if words.get("num_cpus") else {"num_cpus": cpus(config)}
        words["address"] = OWN_CLUSTER  # FIX(ENV009): without it ray.init() joins any cluster that it finds on the node
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
