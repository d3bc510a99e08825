"""Where a start goes on from: looked at, repaired and said, before verl is started."""

import contextlib
import os
from typing import Literal, NamedTuple

from skyrl_train.checkpoints.errors import CheckpointError
from skyrl_train.checkpoints.finish import seal
from skyrl_train.checkpoints.saved import Saved, look
from skyrl_train.checkpoints.store import Survey, point, survey
from skyrl_train.contracts.checkpoints import layout
from skyrl_train.contracts.checkpoints.layout import KINDS
from skyrl_train.contracts.checkpoints.rules import world_fault

Mode = Literal["auto", "disable", "path"]
SHOWN = 3


class Resume(NamedTuple):
    """`path` is the checkpoint to load, None for a start from the model; `said` is for the log."""

    path: str | None
    step: int
    said: tuple[str, ...]

    @property
    def overrides(self) -> dict[str, str | None]:
        """For verl. The checkpoint by its path, for it was looked at; and no deletion by verl, which deletes the last
        good actor before the new checkpoint is whole (prune follows finish)."""
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
    """Decides, and with `repair` puts right what a kill left: the tracker, and marks for whole checkpoints without one.

    `ranks` is the number of GPUs of this run and `end` its last step, where that is known. CheckpointError where a checkpoint was asked for, or there was one, and
    none can be loaded: a run never starts anew in silence.
    """
    root = os.path.abspath(root)
    if mode == "path":
        return _ending(_resumed(_named(named, critic=critic, kinds=kinds), ranks, ()), end)
    found = survey(root, critic=critic, kinds=kinds)
    if mode == "disable":
        there = f"; {len(found.saved)} checkpoints in {root} are not looked at" if found.saved else ""
        return Resume(None, 0, (f"resume is disabled: training starts anew{there}",))
    last = found.last_good
    said = tuple(
        f"{one.path} is {one.state}: {'; '.join(one.faults[:SHOWN])}" for one in found.saved if not one.complete
    )
    if last is None:
        return _anew(found, said)  # FIX(CKP001)
    if repair:
        said += _repaired(found, last)
    return _ending(_resumed(last, ranks, said), end)


def _resumed(saved: Saved, ranks: int | None, said: tuple[str, ...]) -> Resume:
    if ranks is not None and (wrong := world_fault(saved.worlds, ranks)):  # FIX(CKP002)
        raise CheckpointError(
            f"{saved.path} {wrong}; run on as many GPUs, or merge it (skyrl-train checkpoints merge {saved.path} "
            "--to DIR) and start anew from that model"
        )
    return Resume(saved.path, saved.step, (*said, f"training goes on from {saved.path}"))


def _named(named: str | None, *, critic: bool | None, kinds: tuple[str, ...]) -> Saved:
    path = os.path.abspath(named or "")  # and no slash at its end: verl takes int() of what follows global_step_
    if not named or layout.step_of(os.path.basename(path)) is None:
        raise CheckpointError(f"resume_from is {named!r}; wanted the path of a {layout.STEP}N")
    saved = look(path, critic=critic, kinds=kinds)
    if not saved.complete:
        raise CheckpointError(
            f"{path} {'is ' + saved.state if os.path.isdir(path) else 'is not there'}: "
            f"{'; '.join(saved.faults[:SHOWN])}; wanted a complete checkpoint (skyrl-train checkpoints list shows them)"
        )
    return saved


def _anew(found: Survey, said: tuple[str, ...]) -> Resume:
    if not found.lost:
        why = "the first save was cut short" if found.saved else "there is no checkpoint yet"
        return Resume(None, 0, (*said, f"training starts from the model: {why} in {found.root}"))
    names = f"the tracker names step {found.tracked}" if found.tracked is not None else "one was complete once"
    what = "; ".join(said) or "no checkpoint is there"
    raise CheckpointError(
        f"{found.root}: {names}, and none can be loaded now: {what}; put it back, or start anew with "
        'resume = "disable" or another checkpoint_dir'
    )


def _repaired(found: Survey, last: Saved) -> tuple[str, ...]:
    said: tuple[str, ...] = ()
    for saved in found.saved:
        if saved.complete and not saved.marked:
            with contextlib.suppress(OSError):  # a read-only copy can be resumed from as well
                seal(saved)
    if found.tracked != last.step:
        stood = "is not there" if found.tracker is None else f"says {found.tracker.strip()!r}"
        said = (f"{layout.TRACKER} {stood}; the last complete checkpoint is {last.name}",)
        with contextlib.suppress(OSError):
            point(found.root, last.step)
    return said


def _ending(start: Resume, end: int | None) -> Resume:
    told = nothing_left(start, end)
    return start if told is None else start._replace(said=(*start.said, told))


def nothing_left(start: Resume, end: int | None) -> str | None:  # FIX(CKP004)
    """The sentence for a run that would train nothing and end as if all were well."""
    if end is None or start.step < end:
        return None
    return f"the run goes on from step {start.step} and ends after step {end}: nothing is left to train"
