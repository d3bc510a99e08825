"""The rewards of the tasks are untested or broken.

## What it does
Looks next to the training data for the report of `skyrl-train data oracle`. On a sample of tasks the gold patch must
score 1 and the empty patch 0. `skyrl-doctor watch` reports rewards that are equal in a whole step for five steps in a
row, a mean reward that is the same in 20 steps, and steps in which less than a tenth of the groups give a gradient.

## Why it breaks training
A reward that no patch can earn, or that every patch earns, teaches nothing: the run completes and the model has not
changed. A failed sandbox is different: its rollouts are masked and not scored 0.

## How to fix
Run `skyrl-train data oracle PUBLISHED --data FILE` before training, and remove the tasks that it reports as broken.
FILE is what training reads, and PUBLISHED the data set with the gold patches from which it was converted.

## Example
    broken      sympy_final:5c2e1f: the gold patch scores 0; expected 1: 12 tests in the summary, 13 expected
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Severity
from skyrl_doctor.facts.oracle_reports import OracleReports, TriedData
from skyrl_doctor.plan.answers import NO_SANDBOXES, has_sandboxes
from skyrl_doctor.plan.findings import required
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.rewards.oracle import OracleReport, Verdict

SHOWN = 5


@check("AGT021", fix="skyrl_train/rewards/trial.py")
def reward_path_broken(plan: Plan, reports: OracleReports) -> Iterator[Finding]:
    if not has_sandboxes(required(plan)):
        raise NotApplicable(NO_SANDBOXES)
    for data in reports.files:
        if data.text is None:
            yield _finding(data, f"the rewards of {data.file} are untested: {data.path} is missing", Severity.WARNING)
        elif data.report is None:
            yield _finding(data, f"{data.path} is not a report of this version", Severity.WARNING)
        elif data.report.bytes != data.bytes:
            message = f"{data.path} was made for a file of {data.report.bytes} bytes, but {data.file} has {data.bytes}; expected a report"
            yield _finding(data, message + " of this file", Severity.WARNING)
        else:
            yield from _of_report(data, data.report)


def _of_report(data: TriedData, report: OracleReport) -> Iterator[Finding]:
    tried, broken = len(report.tasks), report.count(Verdict.BROKEN)
    if broken:
        message = f"{broken} of {tried} tested tasks of {data.file} have a broken reward; expected 0"
        severity = Severity.ERROR if broken == tried else Severity.WARNING
        yield _finding(data, message, severity, _details(report, Verdict.BROKEN))
    if lost := report.count(Verdict.UNSCORABLE):
        message = f"{lost} of {tried} tested tasks of {data.file} could not be scored; expected 0, because their rollouts are masked"
        yield _finding(data, message, Severity.WARNING, _details(report, Verdict.UNSCORABLE))


def _details(report: OracleReport, verdict: Verdict) -> tuple[str, ...]:
    return tuple(f"{task.task_id}: {task.detail}" for task in report.tasks if task.verdict is verdict)[:SHOWN]


def _finding(data: TriedData, message: str, severity: Severity, evidence: tuple[str, ...] = ()) -> Finding:
    remedy = Remedy(
        kind=RemedyKind.RETRY,
        summary=(
            f"test the rewards of a sample: `skyrl-train data oracle PUBLISHED --data {data.file}`, where PUBLISHED is "
            "the file that it was converted from: it has the gold patches"
        ),
    )
    return Finding(message=message, evidence=evidence, remedy=remedy, severity=severity)
