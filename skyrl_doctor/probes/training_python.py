"""Finds out which interpreter trains: the plan's, $UV_PYTHON, the active environment's, the project's, the doctor's own."""

import os

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.python import Candidate, candidates, commands, is_path

KEY = "python.interpreter"


@probe(limit_s=5.0)
def training_python(machine: Machine, plan: Plan, environ: Environ, host: Host) -> TrainingPython:
    for candidate in candidates(plan.text(KEY), environ, cwd=host.cwd, own=host.python):
        found = _resolved(machine, plan, candidate, host.cwd)
        if not found.fault or candidate.meant:
            return found
    raise AssertionError("the doctor's own interpreter is always a candidate")


def _resolved(machine: Machine, plan: Plan, candidate: Candidate, cwd: str) -> TrainingPython:
    written = plan.find(KEY) if candidate.source == KEY else None
    location = written.location if written is not None else None
    if not is_path(candidate.text):
        path = _by_request(machine, candidate)
        return TrainingPython(path, f"{candidate.source}={candidate.text}, a request that PATH answers", location)
    path = os.path.normpath(os.path.join(cwd, candidate.text))
    kind = _kind(machine, path)
    if kind == "dir":
        inside = [os.path.join(path, "bin", name) for name in ("python3", "python")]
        taken = next((name for name in inside if _kind(machine, name) == "file"), None)
        fault = "" if taken else "it is a directory without bin/python3"
        return TrainingPython(taken or path, candidate.source, location, fault)
    faults = {"": "there is no such file", "file": ""}
    return TrainingPython(path, candidate.source, location, faults.get(kind, f"it is a {kind}, not a file"))


def _by_request(machine: Machine, candidate: Candidate) -> str:
    wanted = commands(candidate.text)
    found = next((path for name in wanted if (path := machine.which(name))), None)
    if found is None:
        tried = f"PATH has no {wanted[0]}" if wanted else "no command answers it without uv"
        raise CouldNotLook(
            f"{candidate.source}={candidate.text} is a request for a version, not the path of an interpreter, and {tried}"
        )
    return found


def _kind(machine: Machine, path: str) -> str:
    found = unless_absent(lambda: machine.stat(path))
    return found.kind if found else ""
