"""Looks for the reports of `skyrl-train data oracle` beside the training data."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.oracle_reports import OracleReports, TriedData
from skyrl_doctor.machine.base import Absent, Machine, unless_absent
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.probes.home import expanded
from skyrl_train.contracts.rewards.oracle import SUFFIX, read_report


@probe(limit_s=5.0)
def oracle_reports(machine: Machine, plan: Plan, environ: Environ) -> OracleReports:
    names = plan.texts("data.train_files") or ()
    if not names:
        raise NotApplicable("the configuration names no training data")
    found = [data for name in names if (data := _tried(machine, expanded(name, environ))) is not None]
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
