"""Checkpoints as verl writes them: global_step_N, and a tracker file that names the last whole one."""

import re
from collections.abc import Sequence

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine.base import Absent, Machine, unless_absent
from skyrl_doctor.machine.questions import Stat
from skyrl_doctor.watch.observe import Checkpoint, Observation
from skyrl_doctor.watch.sample.base import Look

TRACKER = "latest_checkpointed_iteration.txt"
MOST_FILES = 2000
_STEP = re.compile(r"global_step_(\d{1,12})")


def checkpoints(directory: str) -> Look:
    """The newest one below a directory."""

    def look(machine: Machine, now: float) -> Sequence[Observation]:
        try:
            names = machine.listdir(directory)
        except Absent:
            return ()
        steps = sorted(int(found[1]) for name in names if (found := _STEP.fullmatch(name)))
        if not steps:
            return ()
        newest = steps[-1]
        text = unless_absent(lambda: machine.read(f"{directory}/{TRACKER}", limit_bytes=64))
        tracked = int(text) if text is not None and text.strip().isdecimal() else None
        size = _size(machine, f"{directory}/global_step_{newest}")
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
