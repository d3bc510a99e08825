"""The interpreter that trains: which one it is, and what it says of itself."""

import re
from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.model import Location
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of
from skyrl_doctor.machine.questions import Completed

_NOT_STARTED = re.compile(r"error while loading shared libraries|Fatal Python error|cannot execute|Exec format error")


@record
class TrainingPython:
    """Which interpreter trains, and who says so. `fault`: why it can be told without running it that it will not run."""

    path: str
    source: str
    location: Location | None = None
    fault: str = ""

    @property
    def shown(self) -> str:
        return f"the training interpreter {self.path} (from {self.source})"


@record(kw_only=True)
class Interpreter:
    """What the training interpreter says of itself. Names of packages are normalised: flash-attn, not flash_attn."""

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
    """Packages that one directory holds twice: an upgrade that was cut short."""

    @property
    def markers(self) -> dict[str, str]:
        """What requirements may ask of an interpreter (PEP 508)."""
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
"""Name and version by the directory that holds them, in the order of sys.path."""


def parse_interpreter(text: str, python: TrainingPython) -> Interpreter:
    """The answer of children/interpreter.py."""
    answer = answer_of(text, f"interpreter probe under {python.path}")
    by_directory = {
        directory: [(item.partition("==")[0], item.partition("==")[2]) for item in items]
        for directory, items in answer.lists("distributions").items()
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
        requires=answer.lists("requires"),
        doubled=_doubled(by_directory),
    )


def _first(by_directory: Installed) -> dict[str, str]:
    """The version that is imported: sys.path decides, so the first of a name."""
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
    """Why an interpreter did not even start; empty where it did, whatever it said then."""
    if done.timed_out or done.truncated or done.rc == 0:
        return ""
    if not done.found:
        return "it does not start: the loader or the #! line that it names is gone"
    said = next((line.strip() for line in done.err.splitlines() if _NOT_STARTED.search(line)), "")
    if said:
        return f"it does not start: {said[:300]}"
    if done.rc == 126:
        return f"it does not start: {done.err.strip()[:300]}"
    return ""
