"""The checkpoints in the directory where the plan's run saves its own, and the size of a new one."""

import os
from collections.abc import Iterator

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.machine.base import Absent, Machine, unless_absent
from skyrl_doctor.machine.paths import expand_home, resolve_links
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.checkpoints import layout, manifest

AUTO, BY_PATH = "auto", "path"
"""Values of trainer.resume."""
DIRECTORY_KEY, RESUME_KEY = "trainer.checkpoint_dir", "trainer.resume_from"
RUN_CONFIG = "run-config"
CONTENTS = tuple(f"actor_rollout_ref.actor.checkpoint.{name}" for name in ("save_contents", "save_lora_only"))
MOST_STEPS, MOST_FILES = 20, 4000
"""Limits: only this many newest checkpoints are read, and this many files of each."""


@record(kw_only=True)
class Checkpoint:
    """One global_step_N. `faults` says why a resume from it would fail, judged by names and sizes. `worlds` are the
    numbers of GPUs that saved it; it has several if one save overwrote another."""

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
    """`root` is the checkpoint directory, and `free` the free bytes there. `tracker` is the text of verl's tracker file,
    None if there is none. `named` is the checkpoint that resume = path names. `unknown`: why only a directory above the
    run's own is known; then its disk can be judged, and no checkpoint in it."""

    root: str
    tracker: str | None = None
    found: tuple[Checkpoint, ...] = ()
    named: Checkpoint | None = None
    free: int
    unknown: str = ""

    @property
    def tracked(self) -> int | None:
        return None if self.tracker is None else layout.tracked(self.tracker)

    @property
    def last_good(self) -> Checkpoint | None:
        """The checkpoint from which our own trainer resumes."""
        return self.of(layout.chosen((one.step for one in self.found if one.complete), self.tracked))

    def of(self, step: int | None) -> Checkpoint | None:
        return next((one for one in self.found if one.step == step), None)

    def taken(self, mode: str, *, ours: bool) -> Checkpoint | None:
        """The checkpoint that a start loads, complete or not. verl trusts its tracker; our trainer looks for a complete one."""
        if mode == BY_PATH:
            return self.named
        if mode == AUTO and self.unknown:
            raise NotApplicable(self.unknown)
        return None if mode != AUTO else self.last_good if ours else self.of(self.tracked)


@record
class CheckpointSize:
    """The size of one checkpoint of this run, according to the memory model."""

    model: str
    bytes: int


@probe(limit_s=10.0)
def checkpoints(machine: Machine, plan: Plan, environ: Environ, host: Host) -> Checkpoints:
    """Reads names and sizes, verl's tracker, our marks and the free space where the plan's run saves its checkpoints."""
    root, unknown = _root(plan, environ, host)
    names = () if unknown else unless_absent(lambda: machine.listdir(root)) or ()
    steps = sorted(step for name in names if (step := layout.step_of(name)) is not None)
    tracker = unless_absent(lambda: machine.read(f"{root}/{layout.TRACKER}", limit_bytes=64)) if names else None
    tracked = None if tracker is None else layout.tracked(tracker)
    read = sorted({*steps[-MOST_STEPS:], *(step for step in steps if step == tracked)})
    named = plan.text(RESUME_KEY)
    place = resolve_links(machine, root)
    return Checkpoints(
        root=root,
        tracker=tracker,
        found=tuple(
            _checkpoint(machine, f"{root}/{layout.directory_of(step)}", step) for step in read if step is not None
        ),
        named=None if named is None else _named_checkpoint(machine, _absolute(named, environ, host)),
        free=machine.space(place.existing).free_bytes,
        unknown=unknown,
    )


@probe(limit_s=5.0)
def checkpoint_size(plan: Plan, files: ModelFiles) -> CheckpointSize:
    """Computes the size from other facts. It reads nothing from the machine."""
    written = [value.assignment for key, value in plan.own.items() if key in CONTENTS and value.written]
    if written:
        raise NotApplicable(
            f"{written[0]}: the saved parts differ from verl's default, so the size of a checkpoint is unknown"
        )
    from skyrl_doctor.budget.job import memory_job
    from skyrl_doctor.budget.models import model_of
    from skyrl_train.memory.checkpoint import checkpoint_size as bytes_of

    model = model_of(files)
    return CheckpointSize(model.name, bytes_of(model.shape, memory_job(plan)))


def _root(plan: Plan, environ: Environ, host: Host) -> tuple[str, str]:
    """The run's checkpoint directory; if a part of its name is unknown, the directory above that part, and why."""
    value = plan.values.get(DIRECTORY_KEY)
    above = str(value.value).partition("$")[0].rpartition("/")[0] if value is not None and value.unknown else ""
    if value is not None and above:
        return _absolute(above, environ, host), f"{value.assignment}: {value.unknown}"
    written = plan.text(DIRECTORY_KEY)
    if written is None:
        raise NotApplicable("no configuration sets a checkpoint directory")
    root = _absolute(written, environ, host)
    if not plan.is_of(RUN_CONFIG):
        return root, ""
    parts = (plan.text("trainer.project"), plan.text("trainer.experiment"))
    return os.path.join(root, *(part for part in parts if part)), ""


def _absolute(path: str, environ: Environ, host: Host) -> str:
    if "://" in path:
        raise NotApplicable(f"{path} is not on a file system of this machine")
    return os.path.normpath(os.path.join(host.cwd, expand_home(path, environ)))


def _named_checkpoint(machine: Machine, path: str) -> Checkpoint:
    step = layout.step_of(os.path.basename(path))
    if step is None:
        return Checkpoint(step=-1, path=path, faults=(f"its name is not {layout.STEP}N",))
    if unless_absent(lambda: machine.listdir(path)) is None:
        return Checkpoint(step=step, path=path, faults=("the directory does not exist",))
    return _checkpoint(machine, path, step)


def _checkpoint(machine: Machine, path: str, step: int) -> Checkpoint:
    listing = dict(_files(machine, path))
    faults = list(layout.lacks(listing))
    marks = layout.MANIFEST in listing
    mark = manifest.parse(machine.read(f"{path}/{layout.MANIFEST}")) if marks else None
    if mark is not None and (changed := manifest.resized(mark, listing)):
        faults.insert(0, changed)
    return Checkpoint(
        step=step,
        path=path,
        faults=tuple(faults),
        worlds=layout.worlds(listing, layout.ACTOR),
        size=sum(listing.values()),
        marked=mark is not None,
    )


def _files(machine: Machine, path: str) -> Iterator[tuple[str, int]]:
    """Yields the files below a directory with their sizes."""
    todo, read = [""], 0
    while todo:
        here = todo.pop()
        for name in _names(machine, os.path.join(path, here) if here else path):
            read += 1
            if read > MOST_FILES:
                raise CouldNotLook(f"{path} has more than {MOST_FILES} files")
            below = os.path.join(here, name)
            found = unless_absent(lambda at=below: machine.stat(os.path.join(path, at)))  # type: ignore[misc]  # mypy cannot type the default
            if found is not None and found.kind == "dir":
                todo.append(below)
            elif found is not None and found.kind == "file":
                yield below, found.size


def _names(machine: Machine, path: str) -> tuple[str, ...]:
    try:
        return machine.listdir(path)
    except Absent:
        return ()  # deleted since: a run removes old checkpoints
