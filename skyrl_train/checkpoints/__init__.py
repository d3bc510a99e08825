"""Checkpoints that stay usable if the run is killed at any moment. Quick to import, without torch.

For the trainer, around verl's own saves and loads:

    start = resume_from(root, mode="auto", ranks=gpus, critic=False)   # before verl starts; CheckpointError refuses
    start.overrides                     # verl's keys: which checkpoint, and that verl itself deletes none
    start.notes                         # lines for the log
    ...                                 # in CheckpointCallback.on_save, on the driver, with async_save false:
    finish(root, global_step)           # files to disk, mark, tracker; CheckpointError if the save is incomplete
    prune(root, keep=2)                 # only now remove older ones

For readers: survey(root) (a Survey of Saved), survey(root).last_good, examine(path), examine(path).complete.
`root` is verl's trainer.default_local_dir. With async_save, do not call finish in on_save: nothing is on the disk yet.

`layout` describes what verl writes and what a resume needs. It is pure, and the doctor's checks use it.
"""

from skyrl_train.checkpoints.errors import CheckpointError
from skyrl_train.checkpoints.finish import finish
from skyrl_train.checkpoints.prune import Pruned, prune
from skyrl_train.checkpoints.resume import Resume, resume_from
from skyrl_train.checkpoints.saved import Saved, SavedState, examine
from skyrl_train.checkpoints.store import Survey, survey

__all__ = [
    "CheckpointError",
    "Pruned",
    "Resume",
    "Saved",
    "SavedState",
    "Survey",
    "complete",
    "examine",
    "finish",
    "last_good",
    "prune",
    "resume_from",
    "survey",
]


def complete(path: str) -> bool:
    """Whether a global_step_N can be resumed from."""
    return examine(path).complete


def last_good(root: str) -> Saved | None:
    """The checkpoint that a resume loads, or None."""
    return survey(root).last_good
