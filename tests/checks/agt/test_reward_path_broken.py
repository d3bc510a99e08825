"""AGT021."""

import pytest

from checks.agt.reward_path_broken import reward_path_broken
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.oracle_reports import OracleReports, TriedData
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.rewards.oracle import OracleReport, TaskVerdict, Verdict
from support import judge, plan_of

PLAN = plan_of(data__train_files=["/d"])


def told(*verdicts: Verdict, size: int = 1, text: str | None = "x") -> list[tuple[str, Severity]]:
    report = OracleReport(bytes=1, tasks=tuple(TaskVerdict("t", verdict) for verdict in verdicts)) if verdicts else None
    data = TriedData("/d", size, "/d.oracle.json", text, report)
    return [(finding.message, finding.severity) for finding in reward_path_broken(PLAN, OracleReports((data,)))]


def test_every_tried_task_must_be_good() -> None:
    assert told(Verdict.GOOD, Verdict.GOOD) == []
    assert told(Verdict.GOOD, Verdict.BROKEN) == [
        ("1 of 2 tested tasks of /d have a broken reward; expected 0", Severity.WARNING)
    ]
    assert told(Verdict.BROKEN) == [("1 of 1 tested tasks of /d have a broken reward; expected 0", Severity.ERROR)]
    assert told(Verdict.UNSCORABLE) == [
        (
            "1 of 1 tested tasks of /d could not be scored; expected 0, because their rollouts are masked",
            Severity.WARNING,
        )
    ]
    assert told(text=None) == [("the rewards of /d are untested: /d.oracle.json is missing", Severity.WARNING)]
    assert told() == [("/d.oracle.json is not a report of this version", Severity.WARNING)]
    assert told(Verdict.GOOD, size=2) == [
        (
            "/d.oracle.json was made for a file of 1 bytes, but /d has 2; expected a report of this file",
            Severity.WARNING,
        )
    ]


def test_data_without_sandboxes_has_no_oracle() -> None:
    with pytest.raises(NotApplicable, match="the configuration has no agent with tasks in sandboxes"):
        list(reward_path_broken(Plan(("x.sh",), "verl"), OracleReports(())))


def remedy(file: str) -> Remedy:
    return Remedy(
        kind=RemedyKind.RETRY,
        summary=(
            f"test the rewards of a sample: `skyrl-train data oracle PUBLISHED --data {file}`, where PUBLISHED is "
            "the file that it was converted from: it has the gold patches"
        ),
    )


def test_reproduces_on_a_recording() -> None:
    names = ["/data/train.parquet", "/data/all.parquet", "/data/new.parquet", "/data/old.parquet", "/data/gone.parquet"]
    train, whole, new, old, _ = names
    assert judge("AGT021", "agent_stack_broken", plan=plan_of(data__train_files=names)) == Outcome(
        id="AGT021",
        slug="reward-path-broken",
        status=Status.FAIL,
        findings=(
            Finding(
                message=f"1 of 3 tested tasks of {train} have a broken reward; expected 0",
                evidence=("a:1: the gold patch scores 0, wanted 1: x is FAILED",),
                remedy=remedy(train),
                severity=Severity.WARNING,
            ),
            Finding(
                message=f"1 of 3 tested tasks of {train} could not be scored; expected 0, because their rollouts are masked",
                evidence=("b:1: tests_missing: r2e_tests is not in the sandbox",),
                remedy=remedy(train),
                severity=Severity.WARNING,
            ),
            Finding(
                message=f"1 of 1 tested tasks of {whole} have a broken reward; expected 0",
                evidence=("a:1: the gold patch scores 0, wanted 1: x is FAILED",),
                remedy=remedy(whole),
            ),
            Finding(
                message=f"the rewards of {new} are untested: {new}.oracle.json is missing",
                remedy=remedy(new),
                severity=Severity.WARNING,
            ),
            Finding(
                message=f"{old}.oracle.json was made for a file of 2048 bytes, but {old} has 9; expected a report of this file",
                remedy=remedy(old),
                severity=Severity.WARNING,
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    made = plan_of(data__train_files=["/data/train.parquet"])
    assert judge("AGT021", "clean_gpu_node", plan=made).status is Status.PASS
    gone = judge("AGT021", "agent_stack_broken", plan=plan_of(data__train_files=["/data/gone.parquet"]))
    assert (gone.status, gone.reason) == (Status.SKIP, "/data/gone.parquet: not on this machine")
