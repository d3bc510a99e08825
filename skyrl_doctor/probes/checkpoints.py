"""Looks at the checkpoints where the plan's run saves its own: names and sizes, the tracker, our marks, free space."""

import os
from collections.abc import Iterator

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.checkpoints import Checkpoints, CheckpointSize, Found
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.machine.base import Absent, Machine, unless_absent
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.probes.home import expanded
from skyrl_doctor.probes.places import place_of
from skyrl_train.checkpoints import layout, manifest

DIRECTORY, NAMED = "trainer.checkpoint_dir", "trainer.resume_from"
OWN = "run-config"
CONTENTS = tuple(f"actor_rollout_ref.actor.checkpoint.{name}" for name in ("save_contents", "save_lora_only"))
MOST_STEPS, MOST_FILES = 20, 4000
"""The newest so many are looked at, and so many files of each."""


@probe(limit_s=10.0)
def checkpoints(machine: Machine, plan: Plan, environ: Environ, host: Host) -> Checkpoints:
    root = _root(plan, environ, host)
    names = unless_absent(lambda: machine.listdir(root)) or ()
    steps = sorted(step for name in names if (step := layout.step_of(name)) is not None)
    tracker = unless_absent(lambda: machine.read(f"{root}/{layout.TRACKER}", limit_bytes=64)) if names else None
    tracked = None if tracker is None else layout.tracked(tracker)
    looked = sorted({*steps[-MOST_STEPS:], *(step for step in steps if step == tracked)})
    named = plan.text(NAMED)
    place = place_of(machine, root)
    return Checkpoints(
        root=root,
        tracker=tracker,
        found=tuple(
            _found(machine, f"{root}/{layout.directory_of(step)}", step) for step in looked if step is not None
        ),
        named=None if named is None else _named(machine, _absolute(named, environ, host)),
        free=machine.space(place.existing).free_bytes,
    )


@probe(limit_s=5.0)
def checkpoint_size(plan: Plan, files: ModelFiles) -> CheckpointSize:
    written = [value.shown for key, value in plan.own.items() if key in CONTENTS and value.written]
    if written:
        raise NotApplicable(f"{written[0]}: what is saved differs from verl's default, and its size is not described")
    from skyrl_doctor.budget.job import memory_job
    from skyrl_doctor.budget.question import model_of
    from skyrl_train.memory.checkpoint import checkpoint_size as bytes_of

    model = model_of(files)
    return CheckpointSize(model.name, bytes_of(model.shape, memory_job(plan)))


def _root(plan: Plan, environ: Environ, host: Host) -> str:
    written = plan.text(DIRECTORY)
    if written is None:
        raise NotApplicable("no configuration says where checkpoints go")
    root = _absolute(written, environ, host)
    if not plan.is_of(OWN):
        return root
    parts = (plan.text("trainer.project"), plan.text("trainer.experiment"))
    return os.path.join(root, *(part for part in parts if part))


def _absolute(path: str, environ: Environ, host: Host) -> str:
    if "://" in path:
        raise NotApplicable(f"{path} is not on a file system of this machine")
    return os.path.normpath(os.path.join(host.cwd, expanded(path, environ)))


def _named(machine: Machine, path: str) -> Found:
    step = layout.step_of(os.path.basename(path))
    if step is None:
        return Found(step=-1, path=path, faults=(f"it is no {layout.STEP}N",))
    if unless_absent(lambda: machine.listdir(path)) is None:
        return Found(step=step, path=path, faults=("there is no such directory",))
    return _found(machine, path, step)


def _found(machine: Machine, path: str, step: int) -> Found:
    listing = dict(_files(machine, path))
    faults = list(layout.lacks(listing))
    marks = layout.MANIFEST in listing
    mark = manifest.parse(machine.read(f"{path}/{layout.MANIFEST}")) if marks else None
    if mark is not None and (changed := manifest.resized(mark, listing)):
        faults.insert(0, changed)
    return Found(
        step=step,
        path=path,
        faults=tuple(faults),
        worlds=layout.worlds(listing, layout.ACTOR),
        size=sum(listing.values()),
        marked=mark is not None,
    )


def _files(machine: Machine, path: str) -> Iterator[tuple[str, int]]:
    """Names below a directory and their sizes."""
    todo, looked = [""], 0
    while todo:
        here = todo.pop()
        for name in _names(machine, os.path.join(path, here) if here else path):
            looked += 1
            if looked > MOST_FILES:
                raise CouldNotLook(f"{path} holds more than {MOST_FILES} files")
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
        return ()  # gone meanwhile: a run deletes old ones
