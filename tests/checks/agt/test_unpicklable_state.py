"""AGT008."""

from dataclasses import replace

import pytest

from checks.agt.unpicklable_state import unpicklable_state
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Status
from skyrl_doctor.facts.agent_packages import AgentPackages
from support import judge

GOOD = AgentPackages(python="/py", sdk="", required={}, templates=(), templates_at="", own_records="ok")


def test_the_records_come_back_or_it_is_said_why_not() -> None:
    assert list(unpicklable_state(GOOD)) == []
    assert len(list(unpicklable_state(replace(GOOD, own_records="Counts comes back changed")))) == 1
    with pytest.raises(NotApplicable, match="skyrl_train is not installed for /py"):
        list(unpicklable_state(replace(GOOD, own_records="missing")))
    with pytest.raises(NotApplicable, match="Ray is not installed for /py, so no record goes to another process"):
        list(unpicklable_state(replace(GOOD, own_records="stay")))


def test_reproduces_on_a_recording() -> None:
    assert judge("AGT008", "agent_stack_broken") == Outcome(
        id="AGT008",
        slug="unpicklable-state",
        status=Status.FAIL,
        findings=(
            Finding(
                message="the agent's records do not survive pickle or JSON under /opt/train/bin/python: TypeError: cannot pickle '_thread.RLock' object; expected equal records",
                remedy=Remedy(
                    kind=RemedyKind.FIX_ENV,
                    summary="reinstall skyrl-doctor with its dependencies; run this in a checkout of it",
                    commands=("/opt/train/bin/python -m pip install --upgrade '.[train]'",),
                ),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("AGT008", "clean_gpu_node").status is Status.PASS
