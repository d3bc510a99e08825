"""The srun command lines of a trainer job with several nodes: one task on each node."""

from skyrl_train.config.run import RunConfig

CLEAR_LIMIT_S = 30.0


def check(config: RunConfig, job_dir: str, python: str) -> tuple[str, ...]:
    """Runs the doctor on each node; its options are appended. A failing node does not end the others: each reports."""
    return (*_srun(config), "--kill-on-bad-exit=0", "--wait=0", *_part(python, "check", job_dir))


def clear(config: RunConfig, job_dir: str, python: str) -> tuple[str, ...]:
    """Cleans up each node. srun kills all parts when one fails, and a killed part has not cleaned up."""
    return (*_srun(config), "--kill-on-bad-exit=0", *_part(python, "clear", job_dir))


def train(config: RunConfig, job_dir: str, python: str) -> tuple[str, ...]:
    """Starts Ray on each node and the trainer on the first. If a node fails, the others are ended: Ray would wait for it."""
    # FIX(SLM003)
    return (*_srun(config), "--kill-on-bad-exit=1", *_part(python, "node", job_dir))


def _srun(config: RunConfig) -> tuple[str, ...]:
    """srun for all nodes. Since Slurm 22.05 it does not inherit --cpus-per-task, and a site may submit with --export=NONE."""
    nodes = config.slurm.nodes
    counts = (f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1")
    return ("srun", "--export=ALL", *counts, f"--cpus-per-task={config.slurm.trainer_cpus}")


def _part(python: str, part: str, job_dir: str) -> tuple[str, ...]:
    return (python, "-m", "skyrl_train", "job", part, job_dir)
