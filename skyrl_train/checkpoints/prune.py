"""Removes old checkpoints: only complete ones, never the one to resume from, and never partly."""

import os
import re
from typing import NamedTuple

from skyrl_train.checkpoints.errors import CheckpointError
from skyrl_train.checkpoints.saved import Saved, SavedState
from skyrl_train.checkpoints.store import Survey, survey, sync_directory
from skyrl_train.contracts.checkpoints.layout import DISCARDED, KINDS, STEP

_LEFT = re.compile(rf"{DISCARDED}{STEP}\d{{1,9}}")


class Pruned(NamedTuple):
    """`removed` are the checkpoints to remove, or removed; `left` are the rests of interrupted deletions."""

    kept: tuple[Saved, ...]
    removed: tuple[Saved, ...]
    left: tuple[str, ...]


def prune(root: str, *, keep: int, torn: bool = False, apply: bool = True, kinds: tuple[str, ...] = KINDS) -> Pruned:
    """Removes all complete checkpoints except the newest `keep`.

    An incomplete one is kept, since it may be a save in progress; `torn` also removes those that are older than the one
    to resume from.
    """
    if keep < 1:
        raise CheckpointError(f"keep is {keep}; expected at least 1")
    found = survey(root, kinds=kinds)
    removed = _to_remove(found, keep=keep, torn=torn)
    left = tuple(sorted(name for name in _names(root) if _LEFT.fullmatch(name)))
    if apply:
        _remove(root, left, removed)
    return Pruned(tuple(one for one in found.saved if one not in removed), removed, left)


def _to_remove(found: Survey, *, keep: int, torn: bool) -> tuple[Saved, ...]:
    good = [one for one in found.saved if one.complete]
    last = found.last_good
    stays = {one.step for one in good[-keep:]} | ({last.step} if last else set())
    old = [one for one in good if one.step not in stays]
    if torn and last is not None:
        old += [one for one in found.saved if one.state is not SavedState.COMPLETE and one.step < last.step]
    return tuple(sorted(old, key=lambda one: one.step))


def _remove(root: str, left: tuple[str, ...], removed: tuple[Saved, ...]) -> None:
    try:
        for name in left:
            _delete(os.path.join(root, name))
        for saved in removed:
            _discard(root, saved)
    except OSError as error:
        raise CheckpointError(f"{error.filename or root} cannot be removed: {error.strerror or error}") from None


def _delete(path: str) -> None:
    """Deletes a directory; of a link only the link, since its target may belong to others."""
    if os.path.islink(path):
        os.unlink(path)
    else:
        import shutil  # only a deletion needs it

        shutil.rmtree(path)


def _discard(root: str, saved: Saved) -> None:
    """Deletes a checkpoint under another name, so that an interrupted deletion leaves no checkpoint."""
    gone = os.path.join(root, DISCARDED + saved.name)
    os.rename(saved.path, gone)
    sync_directory(root)
    _delete(gone)


def _names(root: str) -> list[str]:
    try:
        return os.listdir(root)
    except FileNotFoundError:
        return []
