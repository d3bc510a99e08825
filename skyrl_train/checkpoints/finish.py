"""Finishes a save of verl: files to the disk, then the mark, then the tracker, so that a kill in between does no harm."""

import contextlib
import os

from skyrl_train.checkpoints.errors import CheckpointError
from skyrl_train.checkpoints.saved import Saved, examine, listed
from skyrl_train.checkpoints.store import point, sync_directory
from skyrl_train.contracts.checkpoints import layout, manifest
from skyrl_train.contracts.checkpoints.layout import KINDS, MANIFEST


def finish(root: str, step: int, *, critic: bool | None = None, kinds: tuple[str, ...] = KINDS) -> Saved:
    """Makes the step that verl has just saved the one to resume from. CheckpointError if it is incomplete."""
    path = os.path.join(root, layout.directory_of(step))
    with contextlib.suppress(FileNotFoundError):  # the mark of an older save of this step
        os.unlink(os.path.join(path, MANIFEST))
    saved = examine(path, critic=critic, kinds=kinds)
    if not saved.complete:
        raise CheckpointError(
            f"{path} was saved but is incomplete: {'; '.join(saved.faults)}. Check whether the disk is full."
        )
    try:
        seal(saved)
        point(root, step)
    except OSError as error:
        raise CheckpointError(
            f"{path} could not be written to the disk: {error}. Check whether the disk is full."
        ) from error
    return examine(path, critic=critic, kinds=kinds)


def seal(saved: Saved) -> None:
    """Waits until a complete checkpoint is on the disk, then marks it."""
    listing = dict(listed(saved.path))
    for name in sorted(listing):
        descriptor = os.open(os.path.join(saved.path, name), os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    for here, _, _ in os.walk(saved.path, topdown=False):
        sync_directory(here)
    manifest.write(saved.path, saved.step, listing)
    sync_directory(saved.path)
    sync_directory(os.path.dirname(saved.path))
