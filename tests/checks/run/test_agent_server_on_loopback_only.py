"""RUN008."""

from dataclasses import replace

import pytest

from checks.run.agent_server_on_loopback_only import agent_server_on_loopback_only
from fakes.runtimes import CANARY, OTHERS, OURS, URL, answers
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Severity, Status
from support import judge

REMEDY = Remedy(
    kind=RemedyKind.FIX_CONFIG,
    summary="run with keys, or set OH_SESSION_API_KEYS_0 in the sandboxes, or add --host 0.0.0.0 to their command",
)
ALONE = (
    "start (session doctor-canary-0): http://cpu-node-03:60001 is called ready and does not answer (Connection refused); "
    "it has no session key, so it may listen on its own loopback only [RUN008]"
)


def unreached(number: int) -> Finding:
    return Finding(
        message=f"{number} sandboxes are reported as ready but cannot be reached; expected them to answer",
        evidence=(ALONE,) * min(3, number),
        remedy=REMEDY,
    )


def test_finds_sandboxes_that_nobody_reaches() -> None:
    seen = replace(CANARY, worked=0, failures=(("RUN008", ALONE),))
    assert list(agent_server_on_loopback_only(OURS, answers(), seen)) == [unreached(1)]


def test_finds_a_runtime_without_keys() -> None:
    assert list(agent_server_on_loopback_only(OTHERS, answers(wrong=404), None)) == [
        Finding(
            message=(
                f"{URL} runs without keys, so its agent servers have none; since 1.38.0 they then listen on 127.0.0.1, where no client reaches them; expected a session key for each"
            ),
            remedy=REMEDY,
            severity=Severity.WARNING,
        )
    ]


def test_sandboxes_that_worked_and_our_own_runtime_are_no_fault() -> None:
    assert list(agent_server_on_loopback_only(OTHERS, answers(wrong=404), CANARY)) == []
    assert list(agent_server_on_loopback_only(OURS, None, None)) == []
    assert list(agent_server_on_loopback_only(OTHERS, answers(), None)) == []


def test_a_runtime_of_others_that_does_not_run_cannot_be_judged() -> None:
    with pytest.raises(NotApplicable):
        list(agent_server_on_loopback_only(OTHERS, None, None))


def test_reproduces_on_a_recording() -> None:
    assert judge("RUN008", "runtime_without_keys", plan=OURS, role=Role.RUNTIME) == Outcome(
        id="RUN008", slug="agent-server-on-loopback-only", status=Status.FAIL, findings=(unreached(4),)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("RUN008", "clean_runtime_up", plan=OURS, role=Role.RUNTIME) == Outcome(
        id="RUN008", slug="agent-server-on-loopback-only", status=Status.PASS
    )
