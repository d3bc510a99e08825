"""What runs on every node of a trainer job with several: one task each, behind the script that gives a node its settings."""

import os

from skyrl_train.config.run import RunConfig
from skyrl_train.launch.names import NODE_SCRIPT


def look(config: RunConfig, job_dir: str) -> tuple[str, ...]:
    """Starts the doctor on each node. A node that fails ends no other: each is to say what it has."""
    return (*_srun(config), "--kill-on-bad-exit=0", "--wait=0", *_through(job_dir))


def train(config: RunConfig, job_dir: str, python: str) -> tuple[str, ...]:
    """Starts Ray on each node, and the trainer on the first. A node that is gone ends the others: Ray would wait for it."""
    # FIX(SLM003)
    part = (python, "-m", "skyrl_train", "job", "node", job_dir)
    return (*_srun(config), "--kill-on-bad-exit=1", *_through(job_dir), *part)


def _srun(config: RunConfig) -> tuple[str, ...]:
    """srun has not taken --cpus-per-task from the job since Slurm 22.05; and a site may submit with --export=NONE."""
    nodes = config.slurm.nodes
    counts = (f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1")
    return ("srun", "--export=ALL", *counts, f"--cpus-per-task={config.slurm.trainer_cpus}")


def _through(job_dir: str) -> tuple[str, ...]:
    return ("/bin/bash", os.path.join(job_dir, NODE_SCRIPT))
