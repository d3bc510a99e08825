"""Decides before verl starts which checkpoint a run resumes from, and repairs the tracker."""

import contextlib
import os
from typing import Literal, NamedTuple

from skyrl_train.checkpoints.errors import CheckpointError
from skyrl_train.checkpoints.finish import seal
from skyrl_train.checkpoints.saved import Saved, examine
from skyrl_train.checkpoints.store import Survey, point, survey
from skyrl_train.contracts.amount import amount
from skyrl_train.contracts.checkpoints import layout
from skyrl_train.contracts.checkpoints.layout import KINDS
from skyrl_train.contracts.checkpoints.rules import world_fault

Mode = Literal["auto", "disable", "path"]
MOST_FAULTS = 3


class Resume(NamedTuple):
    """`path` is the checkpoint to load, None for a start from the model; `notes` are lines for the log."""

    path: str | None
    step: int
    notes: tuple[str, ...]

    @property
    def overrides(self) -> dict[str, str | None]:
        """The overrides for verl: the checkpoint by path, and no deletion by verl, which deletes the last good actor
        before the new checkpoint is complete (`prune` deletes after `finish`)."""
        keep = {"trainer.max_actor_ckpt_to_keep": None, "trainer.max_critic_ckpt_to_keep": None}
        if self.path is None:
            return {"trainer.resume_mode": "disable", **keep}
        return {"trainer.resume_mode": "resume_path", "trainer.resume_from_path": self.path, **keep}


def resume_from(
    root: str,
    *,
    mode: Mode = "auto",
    named: str | None = None,
    ranks: int | None = None,
    critic: bool | None = None,
    kinds: tuple[str, ...] = KINDS,
    end: int | None = None,
    repair: bool = True,
) -> Resume:
    """The start of a run. With `repair`, the tracker and missing marks of complete checkpoints are repaired.

    `ranks` is the number of GPUs of this run and `end` its last step, if known. CheckpointError if a checkpoint was named
    or existed and none can be loaded: a run never starts from the beginning without notice.
    """
    root = os.path.abspath(root)
    if mode == "path":
        return _with_warning(_resumed(_named(named, critic=critic, kinds=kinds), ranks, ()), end)
    found = survey(root, critic=critic, kinds=kinds)
    if mode == "disable":
        there = f"; {amount(len(found.saved), 'checkpoint')} in {root} ignored" if found.saved else ""
        return Resume(None, 0, (f"resume is disabled: training starts from the model{there}",))
    last = found.last_good
    notes = tuple(
        f"{one.path} is {one.state}: {'; '.join(one.faults[:MOST_FAULTS])}" for one in found.saved if not one.complete
    )
    if last is None:
        return _from_model(found, notes)  # FIX(CKP001)
    if repair:
        notes += _repaired(found, last)
    return _with_warning(_resumed(last, ranks, notes), end)


def _resumed(saved: Saved, ranks: int | None, notes: tuple[str, ...]) -> Resume:
    if ranks is not None and (wrong := world_fault(saved.worlds, ranks)):  # FIX(CKP002)
        raise CheckpointError(
            f"{saved.path} {wrong}. Run on that number of GPUs, or merge it (skyrl-train checkpoints merge {saved.path} "
            "--to DIR) and start from that model"
        )
    return Resume(saved.path, saved.step, (*notes, f"training resumes from {saved.path}"))


def _named(named: str | None, *, critic: bool | None, kinds: tuple[str, ...]) -> Saved:
    path = os.path.abspath(named or "")  # without a slash at its end: verl takes int() of what follows global_step_
    if not named or layout.step_of(os.path.basename(path)) is None:
        raise CheckpointError(f"resume_from is {named!r}; expected the path of a {layout.STEP}N directory")
    saved = examine(path, critic=critic, kinds=kinds)
    if not saved.complete:
        raise CheckpointError(
            f"{path} {'is ' + saved.state if os.path.isdir(path) else 'does not exist'}: "
            f"{'; '.join(saved.faults[:MOST_FAULTS])}; name a complete checkpoint (run skyrl-train checkpoints list)"
        )
    return saved


def _from_model(found: Survey, notes: tuple[str, ...]) -> Resume:
    if not found.lost:
        why = "the first save was interrupted" if found.saved else "no checkpoint yet"
        return Resume(None, 0, (*notes, f"training starts from the model: {why} in {found.root}"))
    names = (
        f"the tracker names step {found.tracked}" if found.tracked is not None else "there was a complete checkpoint"
    )
    what = "; ".join(notes) or "no checkpoint was found"
    raise CheckpointError(
        f"{found.root}: {names}, but none can be loaded now: {what}. Restore it, or start from the model with "
        'resume = "disable" or another checkpoint_dir'
    )


def _repaired(found: Survey, last: Saved) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    for saved in found.saved:
        if saved.complete and not saved.marked:
            with contextlib.suppress(OSError):  # a read-only copy can be resumed from too
                seal(saved)
    if found.tracked != last.step:
        tracker = "is missing" if found.tracker is None else f"contains {found.tracker.strip()!r}"
        notes = (f"{layout.TRACKER} {tracker}; the last complete checkpoint is {last.name}",)
        with contextlib.suppress(OSError):
            point(found.root, last.step)
    return notes


def _with_warning(start: Resume, end: int | None) -> Resume:
    warning = nothing_left(start, end)
    return start if warning is None else start._replace(notes=(*start.notes, warning))


def nothing_left(start: Resume, end: int | None) -> str | None:  # FIX(CKP004)
    """A warning if the run would train nothing and still end with success."""
    if end is None or start.step < end:
        return None
    return f"the run resumes from step {start.step} and ends after step {end}: nothing is left to train. Raise trainer.steps or trainer.epochs."
