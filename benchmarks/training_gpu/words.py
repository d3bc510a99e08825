"""The two command lines of a case. Pure: `--dry-run` prints them."""

import sys
from collections.abc import Iterable

from skyrl_train.contracts.verl_keys import WORKER

OURS_ALONE = (
    "data.custom_cls.",
    "data.val_",
    "actor_rollout_ref.rollout.agent.default_agent_loop",
    "actor_rollout_ref.rollout.agent.agent_loop_config_path",
    "trainer.checkpoint_callback_class",
    "trainer.v1.sampler.",
    "reward.num_workers",
    WORKER,
)
"""What makes verl run our agent; the rest of our overrides is what both runs have."""


def plain(overrides: Iterable[str], *, rows: str, reward: str) -> list[str]:
    """`python -m verl.trainer.main_ppo` with the settings of our run, its own single-turn loop and a reward function."""
    kept = [word for word in overrides if not word.lstrip("+").startswith(OURS_ALONE)]
    own = {
        "data.train_files": rows,
        "data.val_files": rows,
        "data.truncation": "right",
        "reward.num_workers": "1",
        "reward.custom_reward_function.path": reward,
        "reward.custom_reward_function.name": "compute_score",
    }
    kept = [word for word in kept if word.partition("=")[0] not in own]
    return [sys.executable, "-m", "verl.trainer.main_ppo", *kept, *(f"{key}={value}" for key, value in own.items())]


def ours(job_dir: str) -> list[str]:
    return [sys.executable, "-m", "skyrl_train", "train", job_dir, "--no-gate"]
