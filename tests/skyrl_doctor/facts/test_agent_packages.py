"""The parser of the child's answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.agent_packages import AgentClass, AgentPackages, agent_packages, parse_agent_packages
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan, Value

GOOD = (
    '{"sdk": "1.58.0", "records": {"A": ["x"]}, "templates": ["t.j2"], "templates_at": "/s", "own_records": "ok",'
    ' "agent": {"directory": "/d", "templates": [], "overrides": true}}'
)


def test_a_whole_answer() -> None:
    assert parse_agent_packages(f"a warning\n{GOOD}\n", "/py") == AgentPackages(
        python="/py",
        sdk="1.58.0",
        required={"A": ("x",)},
        templates=("t.j2",),
        templates_at="/s",
        own_records="ok",
        agent=AgentClass("/d", (), overrides=True),
    )


@given(st.text() | st.recursive(st.none() | st.text(), lambda inner: st.dictionaries(st.text(), inner)).map(str))
def test_garbage_is_no_health(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_agent_packages(text, "/py")


@pytest.mark.parametrize("field", ["sdk", "records", "templates", "templates_at", "own_records"])
def test_a_missing_field_was_not_looked_at(field: str) -> None:
    with pytest.raises(CouldNotLook, match=field):
        parse_agent_packages(GOOD.replace(f'"{field}"', '"other"'), "/py")


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
    with pytest.raises(CouldNotLook, match="timed out after 15 s"):
        look({"timed_out": True})
    with pytest.raises(CouldNotLook, match="it is gone"):
        look({}, TrainingPython("/py", "x", problem="it is gone"))
