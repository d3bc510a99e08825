"""Composes verl's configuration like its main program, with our overrides."""

import os

import hydra
import yaml
from omegaconf import DictConfig, OmegaConf, open_dict
from verl.trainer.ppo.utils import need_critic, need_reference_policy
from verl.utils.config import validate_config
from verl.utils.device import auto_set_device

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.files import write_whole
from skyrl_train.rl.overrides import AGENT_LOOPS

LOOP = "skyrl_train.rl.agent_loop.SkyrlAgentLoop"


def composed(words: list[str]) -> DictConfig:
    """The composed configuration. UsageError if verl refuses it."""
    try:
        with hydra.initialize_config_module("verl.trainer.config", version_base=None):
            settings = hydra.compose("ppo_trainer", overrides=words)
        auto_set_device(settings)
        validate_config(
            config=settings, use_reference_policy=need_reference_policy(settings), use_critic=need_critic(settings)
        )
        with open_dict(settings):
            settings.transfer_queue.enable = True
        OmegaConf.resolve(settings)
    except (hydra.errors.HydraException, ValueError, AssertionError) as error:
        raise UsageError(f"verl refuses the configuration: {' '.join(str(error).split())}") from error
    return settings


def write_agent_loops(job_dir: str) -> None:
    """Writes the file for verl's `agent_loop_config_path`."""
    loops = [{"name": "skyrl", "_target_": LOOP, "job_dir": job_dir}]
    write_whole(os.path.join(job_dir, AGENT_LOOPS), yaml.safe_dump(loops))
