"""Checkpoints that a kill at any moment leaves usable. Quick to import, and nothing of torch in it.

For the trainer, around verl's own saves and loads:

    start = resume_from(root, mode="auto", ranks=gpus, critic=False)   # before verl starts; CheckpointError refuses
    start.overrides                     # verl's keys: which checkpoint, and that verl itself deletes none
    start.said                          # sentences for the log
    ...                                 # in CheckpointCallback.on_save, on the driver, with async_save false:
    finish(root, global_step)           # files to disk, mark, tracker; CheckpointError where the save is not whole
    prune(root, keep=2)                 # only now: older ones go

and for whoever looks: survey(root) (a Survey of Saved), survey(root).last_good, look(path), look(path).complete.
`root` is verl's trainer.default_local_dir. With async_save nothing may be finished in on_save, for nothing is on the disk.

`layout` says what verl writes and what a resume needs; it is pure, and the doctor's checks use it.
"""

from skyrl_train.checkpoints.errors import CheckpointError
from skyrl_train.checkpoints.finish import finish
from skyrl_train.checkpoints.prune import Pruned, prune
from skyrl_train.checkpoints.resume import Resume, resume_from
from skyrl_train.checkpoints.saved import Saved, State, look
from skyrl_train.checkpoints.store import Survey, survey

__all__ = [
    "CheckpointError",
    "Pruned",
    "Resume",
    "Saved",
    "State",
    "Survey",
    "complete",
    "finish",
    "last_good",
    "look",
    "prune",
    "resume_from",
    "survey",
]


def complete(path: str) -> bool:
    """Whether a global_step_N can be resumed from."""
    return look(path).complete


def last_good(root: str) -> Saved | None:
    """The checkpoint that a resume takes."""
    return survey(root).last_good
