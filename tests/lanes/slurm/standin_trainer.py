"""A payload for the trainer's job: it leaves the rollouts and the checkpoint of one step, and waits to be stopped."""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # the job's Python knows nothing of the tests

from checkpoint_files import save
from job_samples import write_rollouts
from skyrl_train.checkpoints import finish
from skyrl_train.checkpoints.places import checkpoint_root
from skyrl_train.config.load import read

if __name__ == "__main__":
    job_dir = Path(os.environ["SKYRL_JOB_DIR"])
    steps = 1 + len(list(job_dir.parent.glob("*/rollouts/step_*.jsonl")))
    write_rollouts(job_dir / "rollouts", steps=1, prompts=2, samples=4)
    config = read(str(job_dir / "config.toml"))
    root = checkpoint_root(config, os.getcwd())
    save(Path(root), steps)
    finish(root, steps)
    (job_dir / "trains").touch()
    signal.pause()
