"""Whether a trainer that was warned of its time limit gets another turn, and why not."""

import os
import signal

from skyrl_train.checkpoints import CheckpointError, last_good
from skyrl_train.checkpoints.places import checkpoint_root
from skyrl_train.launch import restarts
from skyrl_train.launch.directory import Ended
from skyrl_train.launch.work import Work

_OUR_TRAINER = ("-m", "skyrl_train", "train")


def too_many(work: Work) -> str:
    """Why this turn must not run: Slurm itself requeues a job without asking."""
    count, most = restarts.count(work.environ), work.config.slurm.requeue_limit
    return f"Slurm restarted the job {count} times; slurm.requeue_limit allows {most}" if count > most else ""


def why_no_requeue(work: Work, ended: Ended) -> str:
    """Why another turn would be in vain; an empty text if it is not."""
    most = work.config.slurm.requeue_limit
    if restarts.count(work.environ) >= most:
        return f"the trainer was not requeued: slurm.requeue_limit allows {most} restarts"
    if not _ignored_warning(work, ended) or tuple(work.payload[1:4]) != _OUR_TRAINER or _has_saved(work):
        return ""
    return (
        "the trainer was not requeued: it did not stop after the warning before the time limit (SIGUSR1) and saved no checkpoint in "
        "this turn, so the next turn would repeat it; set trainer.save_every_steps, or a longer slurm.signal_before_end_s"
    )


def ignored_warning(work: Work, ended: Ended) -> str:
    """A line for the log of a trainer that is requeued although it ignored the warning."""
    return (
        "the trainer did not stop after the warning before the time limit (SIGUSR1)"
        if _ignored_warning(work, ended)
        else ""
    )


def _ignored_warning(work: Work, ended: Ended) -> bool:
    """Whether the warning killed the trainer, or the time limit came first."""
    return work.signals.before_end and (work.signals.stop_requested() or ended.status == 128 + signal.SIGUSR1)


def _has_saved(work: Work) -> bool:
    """Whether there is a checkpoint of this turn. Unreadable checkpoints count: the trainer itself refuses them."""
    try:
        last = last_good(checkpoint_root(work.config, os.getcwd()))
    except CheckpointError:
        return True
    return last is not None and last.saved_at >= work.started_at
