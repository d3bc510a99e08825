"""The files of tasks that the plan names, as they lie on this machine."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.machine.paths import expand_home
from skyrl_doctor.plan.model import Plan

KEYS = ("data.train_files", "data.val_files")


@record(kw_only=True)
class DataFile:
    """`wrong` says why it cannot be read as a file of tasks, and `unsure` why nobody could look."""

    key: str
    path: str
    wrong: str = ""
    unsure: str = ""


@record
class DataFiles:
    files: tuple[DataFile, ...]


@probe(limit_s=5.0)
def data_files(machine: Machine, plan: Plan, environ: Environ) -> DataFiles:
    """Looks at the files of tasks that the plan names, without reading them."""
    named = [(key, expand_home(name, environ)) for key in KEYS for name in plan.texts(key) or ()]
    here = [(key, path) for key, path in named if not is_elsewhere(path)]
    if not here:
        raise NotApplicable("the configuration names no data file of this machine")
    return DataFiles(tuple(_looked_at(machine, key, path) for key, path in here))


def is_elsewhere(path: str) -> bool:
    """In a store that is fetched from, or behind a variable that only the job's shell has."""
    return "://" in path or "$" in path


def _looked_at(machine: Machine, key: str, path: str) -> DataFile:
    try:
        found = machine.stat(path)
    except Absent:
        return DataFile(key=key, path=path, wrong="does not exist")
    except CouldNotLook as error:
        return DataFile(key=key, path=path, unsure=str(error))
    if found.kind != "file":
        return DataFile(key=key, path=path, wrong="is a directory" if found.kind == "dir" else f"is a {found.kind}")
    return DataFile(key=key, path=path, wrong="" if found.size else "is empty")
