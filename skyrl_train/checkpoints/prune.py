"""Old checkpoints go: only whole ones, never the one to go on from, and never by halves."""

import os
import re
from typing import NamedTuple

from skyrl_train.checkpoints.errors import CheckpointError
from skyrl_train.checkpoints.saved import Saved, State
from skyrl_train.checkpoints.store import Survey, survey, sync_directory
from skyrl_train.contracts.checkpoints.layout import DISCARDED, KINDS, STEP

_LEFT = re.compile(rf"{DISCARDED}{STEP}\d{{1,9}}")


class Pruned(NamedTuple):
    """`removed` is what goes, or went; `left` are the remains of deletions that were cut."""

    kept: tuple[Saved, ...]
    removed: tuple[Saved, ...]
    left: tuple[str, ...]


def prune(root: str, *, keep: int, torn: bool = False, apply: bool = True, kinds: tuple[str, ...] = KINDS) -> Pruned:
    """Keeps the newest `keep` whole ones. What was cut short stays, for it may be a save that goes on at this moment;
    `torn` takes those too that are older than the one to go on from."""
    if keep < 1:
        raise CheckpointError(f"keep is {keep}; wanted at least 1")
    found = survey(root, kinds=kinds)
    goes = _going(found, keep=keep, torn=torn)
    left = tuple(sorted(name for name in _names(root) if _LEFT.fullmatch(name)))
    if apply:
        _remove(root, left, goes)
    return Pruned(tuple(one for one in found.saved if one not in goes), goes, left)


def _going(found: Survey, *, keep: int, torn: bool) -> tuple[Saved, ...]:
    good = [one for one in found.saved if one.complete]
    last = found.last_good
    stays = {one.step for one in good[-keep:]} | ({last.step} if last else set())
    old = [one for one in good if one.step not in stays]
    if torn and last is not None:
        old += [one for one in found.saved if one.state is not State.COMPLETE and one.step < last.step]
    return tuple(sorted(old, key=lambda one: one.step))


def _remove(root: str, left: tuple[str, ...], goes: tuple[Saved, ...]) -> None:
    try:
        for name in left:
            _delete(os.path.join(root, name))
        for saved in goes:
            _discard(root, saved)
    except OSError as error:
        raise CheckpointError(f"{error.filename or root} cannot be removed: {error.strerror or error}") from None


def _delete(path: str) -> None:
    """Of a link the link alone goes: what it leads to is somebody else's."""
    if os.path.islink(path):
        os.unlink(path)
    else:
        import shutil  # for who deletes, not for who lists

        shutil.rmtree(path)


def _discard(root: str, saved: Saved) -> None:
    """By another name first: a deletion that is cut leaves nothing that looks like a checkpoint."""
    gone = os.path.join(root, DISCARDED + saved.name)
    os.rename(saved.path, gone)
    sync_directory(root)
    _delete(gone)


def _names(root: str) -> list[str]:
    try:
        return os.listdir(root)
    except FileNotFoundError:
        return []
