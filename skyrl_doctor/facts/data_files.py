"""The files that the plan names, and whether they exist on this machine."""

import os
from collections.abc import Iterator
from dataclasses import replace

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.machine.paths import expand_home
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.names.files import local_path, named_files
from skyrl_doctor.plan.source import folders_above

DATA_KEYS = ("data.train_files", "data.val_files")
TASKS = "a file of tasks"


@record(kw_only=True)
class DataFile:
    """`wrong` is why it is not a usable file; `unsure` is why that is unknown.

    `key` is a canonical key for a file of tasks, else the key of the user's dialect. `kind` is what the file must be.
    """

    key: str
    path: str
    wrong: str = ""
    unsure: str = ""
    kind: str = TASKS
    may_be_beside_package: bool = False
    """A relative path that the program also looks for beside its own package."""


@record
class DataFiles:
    """The files, and the directory in which a relative path begins."""

    files: tuple[DataFile, ...]
    cwd: str = ""


@probe(limit_s=5.0)
def data_files(machine: Machine, plan: Plan, environ: Environ) -> DataFiles:
    """Checks that the files exist and are not empty, without reading them."""
    named = [(key, expand_home(name, environ)) for key in DATA_KEYS for name in plan.texts(key) or ()]
    found = [DataFile(key=key, path=path) for key, path in named if not is_elsewhere(path)]
    seen = [_look_at(machine, file) for file in found] + list(_own_files(machine, plan, environ))
    if not seen:
        raise NotApplicable("the configuration names no data file on this machine")
    cwd = "" if all(file.path.startswith("/") for file in seen) else machine.identity().cwd
    return DataFiles(tuple(seen), cwd)


def is_elsewhere(path: str) -> bool:
    """Whether it is a URL, or contains a variable that only the job's shell expands."""
    return "://" in path or "$" in path


def _own_files(machine: Machine, plan: Plan, environ: Environ) -> Iterator[DataFile]:
    """The programs, lists of tools and templates: a relative one from the working directory, or from a folder of the targets."""
    folders = [folder for target in plan.targets for folder in folders_above(machine, target)]
    for name, key, value in named_files(plan):
        file = DataFile(key=name, path=str(value.value), kind=key.kind)
        if value.unknown:
            yield replace(file, unsure=f"{value.assignment}: {value.unknown}")
            continue
        local = local_path(value)
        if local is None or is_elsewhere(local):
            continue
        path = expand_home(local, environ)
        is_relative = not path.startswith("/")
        file = replace(file, path=path, may_be_beside_package=is_relative and key.is_beside_package)
        seen = _look_at(machine, file)
        if is_relative and seen.wrong:
            others = (_look_at(machine, replace(file, path=os.path.join(folder, path))) for folder in folders)
            if not all(other.wrong for other in others):
                continue
        yield seen


def _look_at(machine: Machine, file: DataFile) -> DataFile:
    try:
        found = machine.stat(file.path)
    except Absent:
        return replace(file, wrong="does not exist")
    except CouldNotLook as error:
        return replace(file, unsure=str(error))
    if found.kind != "file":
        return replace(file, wrong="is a directory" if found.kind == "dir" else f"is a {found.kind}")
    return replace(file, wrong="" if found.size else "is empty")
