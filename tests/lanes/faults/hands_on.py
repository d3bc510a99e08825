"""A driver as ours begins: Ray, and the proof that its workers have what the driver has."""

import sys

from omegaconf import OmegaConf

from skyrl_train.config.load import read
from skyrl_train.rl import ray_start

if __name__ == "__main__":
    settings = OmegaConf.create({"ray_kwargs": {"ray_init": {}}})
    ray_start.begin(settings, read(sys.argv[1])).hold()
