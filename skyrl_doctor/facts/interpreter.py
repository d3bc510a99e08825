"""The training interpreter: which one it is, its version and its packages."""

import os
import re
from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Location
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_doctor.machine.queries import Completed
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.python import Candidate, candidates, commands, is_path

_NOT_STARTED = re.compile(r"error while loading shared libraries|Fatal Python error|cannot execute|Exec format error")
INTERPRETER_KEY = "python.interpreter"
LIMIT_S = 10.0


@record
class TrainingPython:
    """The training interpreter. `source` is the setting that names it; `problem` says why it cannot run, judged by its path."""

    path: str
    source: str
    location: Location | None = None
    problem: str = ""

    @property
    def label(self) -> str:
        return f"the training interpreter {self.path} (from {self.source})"


@record(kw_only=True)
class Interpreter:
    """Version, paths and packages of the training interpreter. Package names are normalised: flash-attn, not flash_attn."""

    python: TrainingPython
    version: str
    implementation: str
    platform: str
    machine: str
    prefix: str
    base_prefix: str
    include: str
    header: bool
    packages: Mapping[str, str]
    requires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    doubled: tuple[str, ...] = ()
    """Packages with two versions in one directory, after an interrupted upgrade."""

    @property
    def markers(self) -> dict[str, str]:
        """The environment markers of PEP 508."""
        return {
            "python_version": ".".join(self.version.split(".")[:2]),
            "python_full_version": self.version,
            "implementation_name": self.implementation,
            "implementation_version": self.version,
            "platform_python_implementation": {"cpython": "CPython", "pypy": "PyPy"}.get(self.implementation, ""),
            "sys_platform": self.platform,
            "platform_system": self.platform.capitalize(),
            "platform_machine": self.machine,
            "os_name": "posix",
        }


Installed = dict[str, list[tuple[str, str]]]
"""(name, version) pairs by directory, in the order of sys.path."""


@unknown_if_malformed()
def parse_interpreter(text: str, python: TrainingPython) -> Interpreter:
    """Parses the output of children/interpreter.py."""
    answer = answer_of(text, f"interpreter probe under {python.path}")
    by_directory = {
        directory: [(item.partition("==")[0], item.partition("==")[2]) for item in items]
        for directory, items in answer.named_lists("distributions").items()
    }
    return Interpreter(
        python=python,
        version=answer.text("version"),
        implementation=answer.text("implementation"),
        platform=answer.text("platform"),
        machine=answer.text("machine"),
        prefix=answer.text("prefix"),
        base_prefix=answer.text("base_prefix"),
        include=answer.text("include"),
        header=answer.flag("header"),
        packages=_first(by_directory),
        requires=answer.named_lists("requires"),
        doubled=_doubled(by_directory),
    )


def _first(by_directory: Installed) -> dict[str, str]:
    """The version of each package that is imported: the first one on sys.path."""
    versions: dict[str, str] = {}
    for name, version in (item for items in by_directory.values() for item in items):
        versions.setdefault(name, version)
    return versions


def _doubled(by_directory: Installed) -> tuple[str, ...]:
    found: set[str] = set()
    for items in by_directory.values():
        versions = dict(items)
        found |= {name for name, version in items if versions[name] != version}
    return tuple(sorted(found))


def start_fault(done: Completed) -> str:
    """Why an interpreter did not start; empty if it started, even if it failed later."""
    if done.timed_out or done.truncated or done.rc == 0:
        return ""
    if not done.found:
        return "it does not start: its loader or the program in its #! line is missing"
    message = next((line.strip() for line in done.err.splitlines() if _NOT_STARTED.search(line)), "")
    if message:
        return f"it does not start: {message[:300]}"
    if done.rc == 126:
        return f"it does not start: {done.err.strip()[:300]}"
    return ""


@probe(limit_s=5.0)
def training_python(machine: Machine, plan: Plan, environ: Environ, host: Host) -> TrainingPython:
    """Finds the training interpreter: the plan's, $UV_PYTHON's, the active environment's, the project's, or the doctor's own."""
    for candidate in candidates(plan.text(INTERPRETER_KEY), environ, cwd=host.cwd, own=host.python):
        found = _resolved(machine, plan, candidate, host.cwd)
        if not found.problem or candidate.explicit:
            return found
    raise AssertionError("the doctor's own interpreter is always a candidate")


def _resolved(machine: Machine, plan: Plan, candidate: Candidate, cwd: str) -> TrainingPython:
    written = plan.find(INTERPRETER_KEY) if candidate.source == INTERPRETER_KEY else None
    location = written.location if written is not None else None
    if not is_path(candidate.text):
        path = _find_in_path(machine, candidate)
        return TrainingPython(path, f"{candidate.source}={candidate.text}, looked up in PATH", location)
    path = os.path.normpath(os.path.join(cwd, candidate.text))
    kind = _kind(machine, path)
    if kind == "dir":
        inside = [os.path.join(path, "bin", name) for name in ("python3", "python")]
        taken = next((name for name in inside if _kind(machine, name) == "file"), None)
        fault = "" if taken else "it is a directory without bin/python3"
        return TrainingPython(taken or path, candidate.source, location, fault)
    faults = {"": "it does not exist", "file": ""}
    return TrainingPython(path, candidate.source, location, faults.get(kind, f"it is a {kind}, not a file"))


def _find_in_path(machine: Machine, candidate: Candidate) -> str:
    names = commands(candidate.text)
    found = next((path for name in names if (path := machine.which(name))), None)
    if found is None:
        tried = f"PATH has no {names[0]}" if names else "only uv can resolve it"
        raise CouldNotLook(f"{candidate.source}={candidate.text} names a version, not a path, and {tried}")
    return found


def _kind(machine: Machine, path: str) -> str:
    found = unless_absent(lambda: machine.stat(path))
    return found.kind if found else ""


@probe(limit_s=LIMIT_S + 2.0)
def interpreter(machine: Machine, python: TrainingPython) -> Interpreter:
    """Runs the training interpreter and reads its version and packages."""
    if python.problem:
        raise CouldNotLook(f"{python.label}: {python.problem}")
    done = machine.ask("interpreter", python=python.path, limit_s=LIMIT_S)
    if not done.ok:
        raise CouldNotLook(f"{python.label}: {start_fault(done) or done.why}")
    return parse_interpreter(done.out, python)
