"""Nobody has tried whether the tasks' rewards can be earned, or some cannot.

## What it does
Looks beside the training data for the report of `skyrl-train data oracle`: on a sample of tasks, the gold patch must
score 1 and the empty patch 0.

## Why it breaks training
A reward that no patch can earn, or that each patch earns, teaches nothing: the run goes through, and the model is as it
was. A sandbox that fails is another matter; its rollouts are masked, and no zeros.

## How to fix
Run `skyrl-train data oracle ROWS --data FILE` before training, and drop the tasks that it calls broken.

## Example
    broken      sympy_final:5c2e1f: the gold patch scores 0, wanted 1: 12 tests in the summary, 13 expected
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Severity
from skyrl_doctor.facts.oracle_reports import OracleReports, TriedData
from skyrl_doctor.plan.findings import required
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.rewards.oracle import OracleReport, Verdict

AGENTS = ("run-config", "skyrl-agent")
SHOWN = 5


@check("AGT021", fix="skyrl_train/rewards/trial.py")
def reward_path_broken(plan: Plan, reports: OracleReports) -> Iterator[Finding]:
    if not required(plan).is_of(*AGENTS):
        raise NotApplicable("no configuration of an agent with tasks in sandboxes")
    for data in reports.files:
        if data.text is None:
            yield _finding(data, f"no one has tried the rewards of {data.file}; wanted {data.path}", Severity.WARNING)
        elif data.report is None:
            yield _finding(data, f"{data.path} does not read as a report; wanted one of this version", Severity.WARNING)
        elif data.report.bytes != data.bytes:
            message = f"{data.path} is about {data.report.bytes} bytes of data and {data.file} has {data.bytes}; wanted a report"
            yield _finding(data, message + " of this file", Severity.WARNING)
        else:
            yield from _of_report(data, data.report)


def _of_report(data: TriedData, report: OracleReport) -> Iterator[Finding]:
    tried, broken = len(report.tasks), report.count(Verdict.BROKEN)
    if broken:
        message = f"{broken} of {tried} tried tasks of {data.file} have a broken reward, wanted 0"
        severity = Severity.ERROR if broken == tried else Severity.WARNING
        yield _finding(data, message, severity, _details(report, Verdict.BROKEN))
    if lost := report.count(Verdict.UNSCORABLE):
        message = (
            f"{lost} of {tried} tried tasks of {data.file} could not be scored, wanted 0: their rollouts are masked"
        )
        yield _finding(data, message, Severity.WARNING, _details(report, Verdict.UNSCORABLE))


def _details(report: OracleReport, verdict: Verdict) -> tuple[str, ...]:
    return tuple(f"{task.task_id}: {task.detail}" for task in report.tasks if task.verdict is verdict)[:SHOWN]


def _finding(data: TriedData, message: str, severity: Severity, evidence: tuple[str, ...] = ()) -> Finding:
    remedy = Remedy(
        kind=RemedyKind.RETRY,
        summary="try the rewards of a sample; ROWS is the data set as published, with its gold patches",
        commands=(f"skyrl-train data oracle ROWS --data {data.file}",),
    )
    return Finding(message=message, evidence=evidence, remedy=remedy, severity=severity)
