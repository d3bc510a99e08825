"""Plans for tests, made by the real readers from small texts or from the examples."""

from pathlib import Path

from skyrl_doctor.core.engine import examine
from skyrl_doctor.core.gather import Gathering
from skyrl_doctor.core.model import Finding, Outcome, Status
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.structure_only import config_only
from support import registry

ROOT = Path(__file__).parent.parent
MIG20 = "examples/mig20.toml"


def plan(text: str, file: str = "run.toml", **more: str) -> Plan:
    """The plan of one text, or of several files."""
    files = {file: text, **more}
    answers = {f"read {name}": content for name, content in files.items()}
    return load(RecordedMachine({"environ": {"HOME": "/home/ada"}, **answers}), tuple(files))


def example(*files: str, verl_version: str | None = None) -> Plan:
    """The plan of files of this repository, by their paths from its root."""
    answers = {f"read {file}": (ROOT / file).read_text(encoding="utf-8") for file in files}
    return load(RecordedMachine({"environ": {"HOME": "/home/ada"}, **answers}), files, verl_version=verl_version)


def found(check_id: str, made: Plan) -> list[Finding]:
    """What a check tells of a configuration alone. A verdict that could not be had stops the test."""
    outcome = alone(check_id, made)
    assert outcome.status in (Status.PASS, Status.FAIL), outcome.reason
    return list(outcome.findings)


def verdict(check_id: str, made: Plan) -> tuple[Status, str]:
    """Status and reason."""
    outcome = alone(check_id, made)
    return outcome.status, outcome.reason


def alone(check_id: str, made: Plan) -> Outcome:
    """A check as `--structure-only` runs it: the plan, and no machine."""
    chosen, welcome = config_only(check for check in registry().checks if check.id == check_id)
    assert chosen, f"{check_id} looks at a machine"
    preset: dict[type, object] = {Plan: made, **welcome}
    (outcome,) = examine(chosen, Gathering({}, preset, deadline_s=20.0))
    return outcome
