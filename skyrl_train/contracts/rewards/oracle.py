"""Checks the reward of a task: its gold patch must score 1 and an empty patch 0 (AGT021)."""

import json
from dataclasses import asdict
from enum import StrEnum

from skyrl_train.contracts.record import record
from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable
from skyrl_train.contracts.typed import Fields, parse_object

FORMAT = 1
SUFFIX = ".oracle.json"
"""Suffix of the report's file name, after the name of the data set."""


class Verdict(StrEnum):
    """The verdict on a task. `unscorable` means that the sandbox failed, not the task: such rollouts are masked."""

    GOOD = "good"
    BROKEN = "broken"
    UNSCORABLE = "unscorable"


@record
class TaskVerdict:
    """The verdict on one task; `detail` is the reason."""

    task_id: str
    verdict: Verdict
    detail: str = ""


@record(kw_only=True)
class OracleReport:
    """The verdicts on a sample. `bytes` is the size of the data set, to detect a report of another file."""

    bytes: int
    tasks: tuple[TaskVerdict, ...]

    def count(self, verdict: Verdict) -> int:
        return sum(task.verdict is verdict for task in self.tasks)


def oracle_fault(*, empty: Score, gold: Score) -> str | None:
    """The fault of a task's reward, or None. A missing score is a fault too."""
    for patch, score in (("the empty patch", empty), ("the gold patch", gold)):
        if isinstance(score, Unscorable):
            return f"{patch} cannot be scored: {score.reason}: {score.detail}"
    assert isinstance(empty, Scored)
    assert isinstance(gold, Scored)
    if empty.reward != 0.0:
        return f"the empty patch scores {empty.reward:g}; expected 0: {empty.why}"
    if gold.reward != 1.0:
        return f"the gold patch scores {gold.reward:g}; expected 1: {gold.why}"
    return None


def verdict_of(task_id: str, *, empty: Score, gold: Score) -> TaskVerdict:
    fault = oracle_fault(empty=empty, gold=gold)
    if fault is None:
        return TaskVerdict(task_id, Verdict.GOOD)
    lost = isinstance(empty, Unscorable) or isinstance(gold, Unscorable)
    return TaskVerdict(task_id, Verdict.UNSCORABLE if lost else Verdict.BROKEN, fault)


def report_json(report: OracleReport) -> str:
    return json.dumps({"format": FORMAT, **asdict(report)}, ensure_ascii=False, indent=1) + "\n"


def read_report(text: str) -> OracleReport | None:
    """The report in a text, or None if it has another format."""
    try:
        found = parse_object(text)
        tasks = found.objects("tasks")
        if found.integer("format") != FORMAT or not tasks:
            return None
        return OracleReport(bytes=found.integer("bytes"), tasks=tuple(map(_task, tasks)))
    except ValueError:
        return None


def _task(task: Fields) -> TaskVerdict:
    """Raises ValueError."""
    return TaskVerdict(task.text("task_id"), Verdict(task.text("verdict")), task.text("detail"))
