"""Plans for tests, made by the real readers from small texts or from the examples."""

from collections.abc import Mapping
from pathlib import Path

from skyrl_doctor.core.engine import examine
from skyrl_doctor.core.gather import Gathering
from skyrl_doctor.core.model import Finding, Outcome, Role, Severity, Status
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.edits.repair import Found, Repair, repair
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
    preset: dict[type, object] = {Plan: made, Roles: Roles(frozenset(Role), asked=False), **welcome}
    (outcome,) = examine(chosen, Gathering({}, preset, deadline_s=20.0))
    return outcome


def judged(texts: Mapping[str, str]) -> tuple[Outcome, ...]:
    """The outcomes of every check that needs the configuration alone."""
    (first, text), *more = texts.items()
    chosen, welcome = config_only(registry().checks)
    preset: dict[type, object] = {
        Plan: plan(text, first, **dict(more)),
        **welcome,
        Roles: Roles(frozenset(Role), asked=False),
    }
    return tuple(examine(chosen, Gathering({}, preset, deadline_s=20.0)))


def repaired(texts: Mapping[str, str], *ids: str, allow_new: bool = False) -> Repair:
    """What `fix` makes of these files, for all findings that are no notices, or for all of these checks."""
    failed = [outcome for outcome in judged(texts) if outcome.status is Status.FAIL]
    findings = [
        Found(outcome.id, finding)
        for outcome in failed
        for finding in outcome.findings
        if (outcome.id in ids if ids else finding.severity > Severity.INFO)
    ]

    def read(edited: Mapping[str, str]) -> Plan:
        (first, text), *more = edited.items()
        return plan(text, first, **dict(more))

    return repair(findings, texts, read, judged, allow_new=allow_new)
