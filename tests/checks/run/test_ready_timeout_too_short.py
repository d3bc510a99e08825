"""RUN003."""

import pytest

from checks.run.ready_timeout_too_short import ready_timeout_too_short
from fakes.images import DATA, NAME, stored
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.images.stored import StoredImages
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of

KEY = "sandbox.ready_timeout_s"


def plan(limit_s: float, inject: str = "build") -> Plan:
    return plan_of(data__train_files=[DATA], sandbox__inject=inject, sandbox__ready_timeout_s=limit_s)


def finding(limit_s: int, wanted: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(
        message=f"sandboxes get {limit_s} s until they must answer; wanted {wanted}",
        location=Location("plan.toml", None, KEY),
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG, summary="use this setting", settings={KEY: wanted.split(maxsplit=1)[0]}
        ),
        severity=severity,
    )


def test_finds_less_time_than_a_build_takes() -> None:
    assert list(ready_timeout_too_short(plan(60), stored())) == [finding(60, "330 s (30 s to start, 300 s to build)")]
    assert list(ready_timeout_too_short(plan(60), None)) == [
        finding(60, "450 s (30 s to start, 120 s to pull, 300 s to build)")
    ]


def test_finds_less_time_than_a_pull_takes() -> None:
    absent = StoredImages(absent=(NAME,), of_dataset=True)
    wanted = "150 s (30 s to start, 120 s to pull)"
    assert list(ready_timeout_too_short(plan(60, "mount"), absent)) == [finding(60, wanted)]
    assert list(ready_timeout_too_short(plan(100, "mount"), absent)) == [finding(100, wanted, Severity.WARNING)]


def test_enough_time_is_no_fault() -> None:
    assert list(ready_timeout_too_short(plan(30, "mount"), stored())) == []
    assert list(ready_timeout_too_short(plan(600), None)) == []
    derived = StoredImages(all_names=frozenset({"localhost/skyrl-derived:ab"}), of_dataset=True)
    assert list(ready_timeout_too_short(plan(30), derived)) == []


def test_another_runtime_has_limits_of_its_own() -> None:
    with pytest.raises(NotApplicable):
        list(ready_timeout_too_short(plan_of(model__path="m"), None))


def test_reproduces_on_a_recording() -> None:
    assert judge("RUN003", "images_not_pulled", plan=plan(60, "mount"), role=Role.RUNTIME) == Outcome(
        id="RUN003",
        slug="ready-timeout-too-short",
        status=Status.FAIL,
        findings=(finding(60, "150 s (30 s to start, 120 s to pull)"),),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("RUN003", "clean_runtime_node", plan=plan(60, "mount"), role=Role.RUNTIME) == Outcome(
        id="RUN003", slug="ready-timeout-too-short", status=Status.PASS
    )
