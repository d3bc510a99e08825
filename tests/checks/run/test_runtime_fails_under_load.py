"""RUN010."""

from dataclasses import replace

from checks.run.runtime_fails_under_load import runtime_fails_under_load
from fakes.runtimes import CANARY, OURS
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from support import judge

PLACE = Location("plan.toml", None, "agent.max_parallel")
BROKEN = "start (session doctor-canary-2): 503: Service Unavailable [RUN010]"
LATE = "not started, used and removed within 20 s"
FEWER = "start fewer at once, or give the runtime more CPUs"


def finding(message: str, summary: str, *evidence: str, severity: Severity = Severity.ERROR) -> Finding:
    remedy = Remedy(kind=RemedyKind.FIX_CONFIG, summary=summary)
    return Finding(message=message, evidence=evidence, location=PLACE, remedy=remedy, severity=severity)


FAILED = finding(
    "2 of 4 sandboxes that were started at once failed (1 x RUN010, 1 x timeout); expected all to work",
    f"{FEWER} and memory",
    BROKEN,
    LATE,
)
SLOW = finding("the slowest of 4 starts took 17.9 s; expected less than 15 s", FEWER, severity=Severity.WARNING)
LEFT = Finding(
    message="1 of 4 sandboxes are still running after they were stopped; expected none",
    remedy=Remedy(kind=RemedyKind.RETRY, summary="the runtime removes them when their lease ends; read its log"),
)


def test_finds_sandboxes_that_failed() -> None:
    seen = replace(CANARY, worked=2, failures=(("RUN010", BROKEN), ("timeout", LATE)))
    assert list(runtime_fails_under_load(OURS, seen)) == [FAILED]


def test_finds_slow_starts_and_what_is_left() -> None:
    assert list(runtime_fails_under_load(OURS, replace(CANARY, start_s=(4.2, 17.9)))) == [SLOW]
    assert list(runtime_fails_under_load(OURS, replace(CANARY, left=1))) == [LEFT]


def test_what_other_checks_tell_is_not_told_twice() -> None:
    seen = replace(CANARY, worked=0, failures=(("RUN004", "x"), ("RUN008", "x"), ("RUN009", "x"), ("RUN001", "x")))
    assert list(runtime_fails_under_load(OURS, seen)) == []


def test_reproduces_on_a_recording() -> None:
    assert judge("RUN010", "runtime_overloaded", plan=OURS, role=Role.RUNTIME) == Outcome(
        id="RUN010", slug="runtime-fails-under-load", status=Status.FAIL, findings=(FAILED, SLOW, LEFT)
    )


def test_no_sandbox_is_started_where_the_role_was_not_asked_for() -> None:
    outcome = judge("RUN010", "clean_runtime_up", plan=OURS, role=None)
    assert (outcome.status, outcome.reason) == (Status.SKIP, "sandboxes are tested only with --role runtime")


def test_silent_on_the_clean_machine() -> None:
    assert judge("RUN010", "clean_runtime_up", plan=OURS, role=Role.RUNTIME) == Outcome(
        id="RUN010", slug="runtime-fails-under-load", status=Status.PASS
    )
