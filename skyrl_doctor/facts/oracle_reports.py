"""What trying the rewards of the training data gave, where it was done."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.base import Absent, Machine, unless_absent
from skyrl_doctor.machine.paths import expand_home
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.rewards.oracle import SUFFIX, OracleReport, read_report


@record
class TriedData:
    """A file of training data on this machine. `text` is its report as it lies there, None where there is none."""

    file: str
    bytes: int
    path: str
    text: str | None
    report: OracleReport | None


@record
class OracleReports:
    """One for each file that is here."""

    files: tuple[TriedData, ...]


@probe(limit_s=5.0)
def oracle_reports(machine: Machine, plan: Plan, environ: Environ) -> OracleReports:
    """Looks for the reports of `skyrl-train data oracle` beside the training data."""
    names = plan.texts("data.train_files") or ()
    if not names:
        raise NotApplicable("the configuration names no training data")
    found = [data for name in names if (data := _tried(machine, expand_home(name, environ))) is not None]
    if not found:
        raise NotApplicable(f"{', '.join(names)}: not on this machine")
    return OracleReports(tuple(found))


def _tried(machine: Machine, file: str) -> TriedData | None:
    try:
        size = machine.stat(file).size
    except Absent:
        return None
    path = file + SUFFIX
    text = unless_absent(lambda: machine.read(path))
    return TriedData(file, size, path, text, None if text is None else read_report(text))
