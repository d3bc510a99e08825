"""What runs on every node of a trainer job with several: one task each, with the settings that the node's script makes."""

from skyrl_train.config.run import RunConfig

CLEAR_LIMIT_S = 30.0


def look(config: RunConfig, job_dir: str, python: str) -> tuple[str, ...]:
    """Starts the doctor, whose words follow, on each node. A node that fails ends no other: each is to say what it has."""
    return (*_srun(config), "--kill-on-bad-exit=0", "--wait=0", *_part(python, "look", job_dir))


def clear(config: RunConfig, job_dir: str, python: str) -> tuple[str, ...]:
    """Takes away what parts left that were killed: srun kills all where one ends badly, and where it is told to end."""
    return (*_srun(config), "--kill-on-bad-exit=0", *_part(python, "clear", job_dir))


def train(config: RunConfig, job_dir: str, python: str) -> tuple[str, ...]:
    """Starts Ray on each node, and the trainer on the first. A node that is gone ends the others: Ray would wait for it."""
    # FIX(SLM003)
    return (*_srun(config), "--kill-on-bad-exit=1", *_part(python, "node", job_dir))


def _srun(config: RunConfig) -> tuple[str, ...]:
    """srun has not taken --cpus-per-task from the job since Slurm 22.05; and a site may submit with --export=NONE."""
    nodes = config.slurm.nodes
    counts = (f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1")
    return ("srun", "--export=ALL", *counts, f"--cpus-per-task={config.slurm.trainer_cpus}")


def _part(python: str, part: str, job_dir: str) -> tuple[str, ...]:
    return (python, "-m", "skyrl_train", "job", part, job_dir)
