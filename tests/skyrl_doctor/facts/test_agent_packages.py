"""The parser of the child's answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.agent_packages import AgentClass, AgentPackages, parse_agent_packages

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
