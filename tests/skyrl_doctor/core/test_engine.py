"""The engine: statuses, isolation, limits, concurrency."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from skyrl_doctor.core.check import Check, Need, Probe, check, probe
from skyrl_doctor.core.engine import examine, exit_code
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.gather import Gathering
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.machine.recorded import NotRecorded

FAULT = Finding(message="3 seen, 4 wanted")


@dataclass(frozen=True)
class Fact:
    value: int


@dataclass(frozen=True)
class Derived:
    value: int


@dataclass(frozen=True)
class Other:
    value: int


def a_check(judge: Callable[..., Iterator[Finding]], id_: str = "TST001") -> Check:
    return check(id_, fix="operator: a test")(judge)


def run(*checks: Check, probes: tuple[Probe, ...] = (), deadline_s: float = 10.0, **preset: object) -> list[Outcome]:
    facts = {type(value): value for value in preset.values()}
    return list(examine(checks, Gathering({found.kind: found for found in probes}, facts, deadline_s=deadline_s)))


def statuses(outcomes: list[Outcome]) -> dict[str, str]:
    return {outcome.id: outcome.status.value for outcome in outcomes}


def reasons(outcomes: list[Outcome]) -> dict[str, str]:
    return {outcome.id: outcome.reason for outcome in outcomes}


def wants_fact(fact: Fact) -> Iterator[Finding]:
    if fact.value == 3:
        yield FAULT


def wants_derived(derived: Derived) -> Iterator[Finding]:
    yield Finding(message=str(derived.value))


def test_no_finding_is_a_pass_and_a_finding_is_a_failure() -> None:
    assert [o.findings for o in run(a_check(wants_fact), fact=Fact(3))] == [(FAULT,)]
    assert statuses(run(a_check(wants_fact), fact=Fact(3))) == {"TST001": "fail"}
    assert statuses(run(a_check(wants_fact), fact=Fact(4))) == {"TST001": "pass"}


def test_what_a_probe_raises_decides_skip_or_unknown() -> None:
    @probe()
    def absent() -> Fact:
        raise NotApplicable("no such thing here")

    @probe()
    def unseen() -> Fact:
        raise CouldNotLook("it would not say")

    assert [(o.status, o.reason) for o in run(a_check(wants_fact), probes=(absent,))] == [
        (Status.SKIP, "no such thing here")
    ]
    assert [(o.status, o.reason) for o in run(a_check(wants_fact), probes=(unseen,))] == [
        (Status.UNKNOWN, "it would not say")
    ]


def test_an_optional_fact_is_none_where_it_does_not_apply_but_never_where_it_was_not_seen() -> None:
    def judge(fact: Fact | None) -> Iterator[Finding]:
        if fact is None:
            yield FAULT

    @probe()
    def absent() -> Fact:
        raise NotApplicable("no such thing here")

    @probe()
    def unseen() -> Fact:
        raise CouldNotLook("it would not say")

    assert statuses(run(a_check(judge), probes=(absent,))) == {"TST001": "fail"}
    assert statuses(run(a_check(judge), probes=(unseen,))) == {"TST001": "unknown"}


def test_a_crash_is_unknown_for_itself_and_the_rest_go_on() -> None:
    def crashes(fact: Fact) -> Iterator[Finding]:
        raise ZeroDivisionError(f"value {fact.value}")
        yield FAULT

    outcomes = run(a_check(crashes), a_check(wants_fact, "TST002"), fact=Fact(3))
    assert statuses(outcomes) == {"TST001": "unknown", "TST002": "fail"}
    assert reasons(outcomes)["TST001"].startswith("check TST001 crashed: ZeroDivisionError: value 3 (test_engine.py:")


def test_a_crashing_probe_is_unknown_for_those_who_need_it() -> None:
    @probe()
    def broken() -> Fact:
        raise KeyError("total")

    outcomes = run(a_check(wants_fact), a_check(wants_derived, "TST002"), probes=(broken,), derived=Derived(1))
    assert statuses(outcomes) == {"TST001": "unknown", "TST002": "fail"}
    assert reasons(outcomes)["TST001"].startswith("probe 'broken' crashed: KeyError: 'total'")


class Unsayable:
    def __repr__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    "strange",
    [
        "bad",
        Unsayable(),
        Finding(message=cast(str, None)),
        Finding(message="m", evidence=cast("tuple[str, ...]", "one text")),
        Finding(message="m", severity=cast(Severity, "error")),
        Finding(message="m", location=cast(Location, "run.toml:3")),
        Finding(message="m", location=Location("run.toml", cast(int, "3"))),
        Finding(message="m", remedy=cast(Remedy, "pray")),
        Finding(message="m", remedy=Remedy(kind=RemedyKind.RETRY, summary="s", settings={"A": cast(str, 1)})),
    ],
    ids=lambda found: type(found).__name__,
)
def test_what_is_no_finding_is_no_verdict(strange: Any) -> None:
    """What a stranger's check may do."""

    def judge(fact: Fact) -> Iterator[Finding]:
        yield strange

    (outcome,) = run(a_check(judge), fact=Fact(1))
    assert (outcome.status, outcome.findings) == (Status.UNKNOWN, ())
    assert outcome.reason.startswith("check TST001 is broken: it yielded ")


def test_a_fact_is_gathered_once_and_probes_may_need_each_other() -> None:
    calls: list[str] = []

    @probe()
    def fact() -> Fact:
        calls.append("fact")
        return Fact(3)

    @probe()
    def derived(base: Fact) -> Derived:
        calls.append("derived")
        return Derived(base.value + 1)

    outcomes = run(
        a_check(wants_fact), a_check(wants_derived, "TST002"), a_check(wants_fact, "TST003"), probes=(fact, derived)
    )
    assert statuses(outcomes) == {"TST001": "fail", "TST002": "fail", "TST003": "fail"}
    assert sorted(calls) == ["derived", "fact"]


def test_probes_run_side_by_side() -> None:
    meeting = threading.Barrier(2, timeout=60.0)

    @probe()
    def fact() -> Fact:
        meeting.wait()
        return Fact(3)

    @probe()
    def other() -> Other:
        meeting.wait()
        return Other(3)

    def judge(fact: Fact, other: Other) -> Iterator[Finding]:
        yield FAULT

    assert statuses(run(a_check(judge), probes=(fact, other))) == {"TST001": "fail"}


def test_a_probe_that_hangs_is_given_up_at_its_limit_and_named() -> None:
    never = threading.Event()

    @probe(limit_s=0.05)
    def stuck() -> Fact:
        never.wait(60.0)
        return Fact(1)

    outcomes = run(a_check(wants_fact), a_check(wants_derived, "TST002"), probes=(stuck,), derived=Derived(1))
    assert statuses(outcomes) == {"TST001": "unknown", "TST002": "fail"}
    assert reasons(outcomes)["TST001"] == "probe 'stuck' timed out after 0.05 s"
    never.set()


def test_the_deadline_ends_what_its_own_limit_would_not() -> None:
    never = threading.Event()

    @probe(limit_s=60.0)
    def stuck() -> Fact:
        never.wait(60.0)
        return Fact(1)

    outcomes = run(a_check(wants_fact), probes=(stuck,), deadline_s=0.05)
    assert reasons(outcomes) == {
        "TST001": "probe 'stuck' did not finish before the deadline of 0.05 s (its own limit is 60 s)"
    }
    never.set()


def test_a_check_that_hangs_is_given_up() -> None:
    never = threading.Event()

    def stuck(fact: Fact) -> Iterator[Finding]:
        never.wait(60.0)
        yield FAULT

    outcomes = run(a_check(stuck), fact=Fact(1), deadline_s=0.1)
    assert statuses(outcomes) == {"TST001": "unknown"}
    never.set()


def test_facts_that_wait_for_each_other_are_unknown() -> None:
    @probe()
    def fact(base: Derived) -> Fact:
        return Fact(base.value)

    @probe()
    def derived(base: Fact) -> Derived:
        return Derived(base.value)

    outcomes = run(a_check(wants_fact), probes=(fact, derived))
    assert reasons(outcomes) == {"TST001": "probe 'fact' needs a fact that itself needs this probe"}


def test_a_fact_without_a_probe_is_unknown() -> None:
    assert reasons(run(a_check(wants_fact))) == {"TST001": "no installed probe gathers Fact"}


def test_a_hole_in_a_strict_recording_is_never_a_verdict() -> None:
    @probe()
    def hole() -> Fact:
        raise NotRecorded("read /proc/x")

    with pytest.raises(NotRecorded):
        run(a_check(wants_fact), probes=(hole,))


@pytest.mark.parametrize("ending", [SystemExit(0), KeyboardInterrupt(), GeneratorExit()], ids=repr)
def test_nothing_that_a_check_or_probe_raises_ends_the_doctor(ending: BaseException) -> None:
    def leaves(fact: Fact) -> Iterator[Finding]:
        raise ending
        yield FAULT

    @probe()
    def leaving() -> Derived:
        raise ending

    checks = (a_check(leaves), a_check(wants_derived, "TST002"), a_check(wants_fact, "TST003"))
    outcomes = run(*checks, probes=(leaving,), fact=Fact(3))
    assert statuses(outcomes) == {"TST001": "unknown", "TST002": "unknown", "TST003": "fail"}
    said = f"crashed: RuntimeError: it raised {type(ending).__name__} ("
    assert reasons(outcomes)["TST001"].startswith(f"check TST001 {said}")
    assert reasons(outcomes)["TST002"].startswith(f"probe 'leaving' {said}")


def test_an_exception_without_words_is_a_crash_like_any_other() -> None:
    class Speechless(Exception):  # noqa: N818 -- a stranger's name
        def __str__(self) -> str:
            raise ValueError

    def judge(fact: Fact) -> Iterator[Finding]:
        raise Speechless
        yield FAULT

    (outcome,) = run(a_check(judge), fact=Fact(1))
    assert outcome.reason.startswith(
        "check TST001 crashed: Speechless: (its message cannot be read: ValueError) (test_engine.py:"
    )


def test_secrets_are_taken_out_of_all_that_is_said() -> None:
    def judge(fact: Fact) -> Iterator[Finding]:
        remedy = Remedy(
            kind=RemedyKind.FIX_ENV, summary="not hunter2", commands=("export A=hunter2",), settings={"A": "hunter2"}
        )
        yield Finding(message="key is hunter2", evidence=("hunter2",), remedy=remedy)

    gathering = Gathering({}, {Fact: Fact(1)}, deadline_s=5.0)
    (outcome,) = examine([a_check(judge)], gathering, redact=lambda text: text.replace("hunter2", "***"))
    remedy = Remedy(kind=RemedyKind.FIX_ENV, summary="not ***", commands=("export A=***",), settings={"A": "***"})
    assert outcome.findings == (Finding(message="key is ***", evidence=("***",), remedy=remedy),)


def test_needs_are_read_from_the_signature() -> None:
    def judge(fact: Fact, other: Other | None) -> Iterator[Finding]:
        yield FAULT

    assert a_check(judge).needs == (Need(Fact), Need(Other, optional=True))
    with pytest.raises(TypeError, match="neither a fact type nor"):
        check("TST009", fix="operator: a test")(_two_types)
    with pytest.raises(TypeError, match="parameter 'fact' of _untyped has no fact type"):
        check("TST009", fix="operator: a test")(_untyped)


def _two_types(fact: Fact | Other) -> Iterator[Finding]:
    yield FAULT


def _untyped(fact) -> Iterator[Finding]:  # type: ignore[no-untyped-def]  # what a stranger may write
    yield FAULT


@pytest.mark.parametrize("bad", ["gpu001", "GPU1", "X001", "GPU0011", "", "GPU001\n"])
def test_an_id_has_one_form(bad: str) -> None:
    with pytest.raises(ValueError, match="expected two to eight capital letters and three digits"):
        check(bad, fix="operator: a test")


def outcome(status: Status, severity: Severity = Severity.ERROR) -> Outcome:
    findings = (Finding(message="x", severity=severity),) if status is Status.FAIL else ()
    return Outcome(id="TST001", slug="x", status=status, findings=findings)


@pytest.mark.parametrize(
    ("outcomes", "fail_on", "code"),
    [
        ([], Severity.ERROR, 0),
        ([outcome(Status.PASS), outcome(Status.SKIP)], Severity.ERROR, 0),
        ([outcome(Status.FAIL)], Severity.ERROR, 1),
        ([outcome(Status.FAIL, Severity.WARNING)], Severity.ERROR, 0),
        ([outcome(Status.FAIL, Severity.WARNING)], Severity.WARNING, 1),
        ([outcome(Status.FAIL, Severity.INFO)], Severity.WARNING, 0),
        ([outcome(Status.UNKNOWN)], Severity.ERROR, 3),
        ([outcome(Status.UNKNOWN), outcome(Status.FAIL)], Severity.ERROR, 1),
        ([outcome(Status.FAIL, Severity.WARNING), outcome(Status.UNKNOWN)], Severity.ERROR, 3),
    ],
)
def test_exit_codes(outcomes: list[Outcome], fail_on: Severity, code: int) -> None:
    assert exit_code(outcomes, fail_on) == code
