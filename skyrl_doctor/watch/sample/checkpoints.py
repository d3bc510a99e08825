"""Checkpoints as verl writes them: global_step_N, and a tracker file that names the last whole one."""

from collections.abc import Sequence

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine.base import Absent, Machine, unless_absent
from skyrl_doctor.machine.queries import Stat
from skyrl_doctor.watch.observations import Checkpoint, Observation
from skyrl_doctor.watch.sample.base import Look
from skyrl_train.contracts.checkpoints import layout

MOST_FILES = 2000


def checkpoints(directory: str) -> Look:
    """The newest one below a directory."""

    def look(machine: Machine, now: float) -> Sequence[Observation]:
        try:
            names = machine.listdir(directory)
        except Absent:
            return ()
        steps = sorted(step for name in names if (step := layout.step_of(name)) is not None)
        if not steps:
            return ()
        newest = steps[-1]
        text = unless_absent(lambda: machine.read(f"{directory}/{layout.TRACKER}", limit_bytes=64))
        tracked = None if text is None else layout.tracked(text)
        size = _size(machine, f"{directory}/{layout.directory_of(newest)}")
        return (Checkpoint(at=now, step=newest, bytes=size, tracked=tracked),)

    return look


def _size(machine: Machine, directory: str) -> int | None:
    """Of all files below; None where there are too many to look at, or they go meanwhile."""
    total, looked, todo = 0, 0, [directory]
    while todo:
        try:
            files = _stats(machine, todo.pop())
        except CouldNotLook:
            return None
        looked += len(files)
        if looked > MOST_FILES:
            return None
        todo += [path for path, found in files if found.kind == "dir"]
        total += sum(found.size for _, found in files if found.kind == "file")
    return total


def _stats(machine: Machine, directory: str) -> list[tuple[str, Stat]]:
    paths = [f"{directory}/{name}" for name in machine.listdir(directory)]
    return [(path, machine.stat(path, follow=False)) for path in paths[: MOST_FILES + 1]]
