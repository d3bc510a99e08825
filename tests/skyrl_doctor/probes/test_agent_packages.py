"""Asking about an agent's packages on recorded machines."""

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.agent_packages import AgentPackages
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.probes.agent_packages import agent_packages

PYTHON = TrainingPython("/py", "python.interpreter")
NO_PLAN = Plan()
OUT = '{"sdk": "", "records": {}, "templates": [], "templates_at": "", "own_records": "missing", "agent": null}'


def look(answer: dict[str, object], python: TrainingPython = PYTHON, plan: Plan = NO_PLAN, more: str = "") -> object:
    return agent_packages(RecordedMachine({f"ask agent_packages /py{more}": answer}, strict=True), plan, python)


def named(name: object) -> Plan:
    return Plan(("a.yaml",), "skyrl-agent", {}, {"agent_cls": Value("agent_cls", name)})


def test_answers_and_reasons() -> None:
    empty = AgentPackages(python="/py", sdk="", required={}, templates=(), templates_at="", own_records="missing")
    good: dict[str, object] = {"rc": 0, "out": [OUT]}
    assert look(good) == empty
    assert look(good, plan=named("a.b_c.D"), more=" a.b_c.D") == empty
    assert look(good, plan=named("--help; rm")) == look(good, plan=named(1)) == empty
    with pytest.raises(CouldNotLook, match="no answer within 15 s"):
        look({"timed_out": True})
    with pytest.raises(CouldNotLook, match="it is gone"):
        look({}, TrainingPython("/py", "x", fault="it is gone"))
