"""The data files that the plan names, and whether they exist on this machine."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.machine.paths import expand_home
from skyrl_doctor.plan.model import Plan

DATA_KEYS = ("data.train_files", "data.val_files")


@record(kw_only=True)
class DataFile:
    """`wrong` is why it is not a usable file; `unsure` is why that is unknown."""

    key: str
    path: str
    wrong: str = ""
    unsure: str = ""


@record
class DataFiles:
    """The files, and the directory in which a relative path begins."""

    files: tuple[DataFile, ...]
    cwd: str = ""


@probe(limit_s=5.0)
def data_files(machine: Machine, plan: Plan, environ: Environ) -> DataFiles:
    """Checks that the files exist and are not empty, without reading them."""
    named = [(key, expand_home(name, environ)) for key in DATA_KEYS for name in plan.texts(key) or ()]
    here = [(key, path) for key, path in named if not is_elsewhere(path)]
    if not here:
        raise NotApplicable("the configuration names no data file on this machine")
    cwd = "" if all(path.startswith("/") for _, path in here) else machine.identity().cwd
    return DataFiles(tuple(_data_file(machine, key, path) for key, path in here), cwd)


def is_elsewhere(path: str) -> bool:
    """Whether it is a URL, or contains a variable that only the job's shell expands."""
    return "://" in path or "$" in path


def _data_file(machine: Machine, key: str, path: str) -> DataFile:
    try:
        found = machine.stat(path)
    except Absent:
        return DataFile(key=key, path=path, wrong="does not exist")
    except CouldNotLook as error:
        return DataFile(key=key, path=path, unsure=str(error))
    if found.kind != "file":
        return DataFile(key=key, path=path, wrong="is a directory" if found.kind == "dir" else f"is a {found.kind}")
    return DataFile(key=key, path=path, wrong="" if found.size else "is empty")
