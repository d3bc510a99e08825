"""RUN004."""

from dataclasses import replace

import pytest

from checks.run.status_mapping import status_mapping
from fakes.runtimes import CANARY, OURS, URL, answers
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Status
from support import judge

REMEDY = Remedy(
    kind=RemedyKind.FIX_CONFIG, summary="use a runtime with the states that clients know: skyrl-train runtime serve"
)
EXITED = (
    "start (session doctor-canary-0): the runtime calls it 'exited'; clients know "
    "crashloopbackoff, failed, not found, pending, ready, running, unknown [RUN004]"
)


def unknown_session(status: int, said: str = "") -> Finding:
    return Finding(
        message=f"{URL} answers {status} for the session 'doctor-probe', which does not exist; expected 404",
        evidence=(said,),
        remedy=REMEDY,
    )


def strange_states(number: int) -> Finding:
    return Finding(
        message=f"{number} sandboxes reported states that clients do not know",
        evidence=(EXITED,) * min(3, number),
        remedy=REMEDY,
    )


@pytest.mark.parametrize("status", [200, 422, 500])
def test_finds_a_wrong_answer_for_a_session_that_nobody_has(status: int) -> None:
    assert list(status_mapping(answers(status), None)) == [unknown_session(status)]


def test_finds_states_that_clients_do_not_know() -> None:
    seen = replace(CANARY, worked=3, failures=(("RUN004", EXITED),))
    assert list(status_mapping(answers(), seen)) == [strange_states(1)]


def test_right_answers_are_no_fault() -> None:
    assert list(status_mapping(answers(), None)) == list(status_mapping(answers(), CANARY)) == []


@pytest.mark.parametrize("status", [None, 401])
def test_no_answer_is_unknown(status: int | None) -> None:
    with pytest.raises(CouldNotLook):
        list(status_mapping(answers(status), None))


def test_reproduces_on_a_recording() -> None:
    assert judge("RUN004", "runtime_with_docker_states", plan=OURS, role=Role.RUNTIME) == Outcome(
        id="RUN004",
        slug="status-mapping",
        status=Status.FAIL,
        findings=(unknown_session(500, "Internal Server Error"), strange_states(4)),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("RUN004", "clean_runtime_up", plan=OURS, role=Role.RUNTIME) == Outcome(
        id="RUN004", slug="status-mapping", status=Status.PASS
    )
