"""The checkpoints that this run would find where it saves its own."""

from skyrl_doctor.core.record import record
from skyrl_train.checkpoints import layout

AUTO, BY_PATH = "auto", "path"
"""Values of trainer.resume."""


@record(kw_only=True)
class Found:
    """One global_step_N. `faults`: why a resume from it would fail, as far as names and sizes tell; `worlds`: by how many
    GPUs it was saved (several numbers where one save went over another)."""

    step: int
    path: str
    faults: tuple[str, ...] = ()
    worlds: tuple[int, ...] = ()
    size: int = 0
    marked: bool = False

    @property
    def complete(self) -> bool:
        return not self.faults


@record(kw_only=True)
class Checkpoints:
    """`root` is where they go; `tracker` the text of verl's tracker, None where it is not there; `named` the checkpoint of
    resume = path; `free` the bytes that are free there."""

    root: str
    tracker: str | None = None
    found: tuple[Found, ...] = ()
    named: Found | None = None
    free: int

    @property
    def tracked(self) -> int | None:
        return None if self.tracker is None else layout.tracked(self.tracker)

    @property
    def last_good(self) -> Found | None:
        """What our own trainer goes on from."""
        return self.of(layout.chosen((one.step for one in self.found if one.complete), self.tracked))

    def of(self, step: int | None) -> Found | None:
        return next((one for one in self.found if one.step == step), None)

    def taken(self, mode: str, *, ours: bool) -> Found | None:
        """What a start loads, whole or not. verl alone believes its tracker; our trainer looks for itself."""
        if mode == BY_PATH:
            return self.named
        return None if mode != AUTO else self.last_good if ours else self.of(self.tracked)


@record
class CheckpointSize:
    """What one checkpoint of this run takes, by the memory model."""

    model: str
    bytes: int
