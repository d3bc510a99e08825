"""Is a task worth training on? Its gold patch must score 1 and an empty patch 0, before the first rollout (AGT021)."""

import json
from dataclasses import asdict
from enum import StrEnum

from skyrl_train.contracts.record import record
from skyrl_train.contracts.rewards.score import Score, Scored, Unscorable
from skyrl_train.contracts.typed import Fields, parse_object

FORMAT = 1
SUFFIX = ".oracle.json"
"""After the name of the data set that the report is about."""


class Verdict(StrEnum):
    """`unscorable` is the sandbox's failure and not the task's: its rollouts would be masked, and are no zeros."""

    GOOD = "good"
    BROKEN = "broken"
    UNSCORABLE = "unscorable"


@record
class TaskVerdict:
    """About one task; `detail` says what is wrong."""

    task_id: str
    verdict: Verdict
    detail: str = ""


@record(kw_only=True)
class OracleReport:
    """What trying a sample gave. `bytes` is the size of the data set then: another file has another report."""

    bytes: int
    tasks: tuple[TaskVerdict, ...]

    def count(self, verdict: Verdict) -> int:
        return sum(task.verdict is verdict for task in self.tasks)


def oracle_fault(*, empty: Score, gold: Score) -> str | None:
    """What is wrong with the reward of a task, or None. A score that is missing is a fault too."""
    for patch, score in (("the empty patch", empty), ("the gold patch", gold)):
        if isinstance(score, Unscorable):
            return f"{patch} cannot be scored: {score.reason}: {score.detail}"
    assert isinstance(empty, Scored)
    assert isinstance(gold, Scored)
    if empty.reward != 0.0:
        return f"the empty patch scores {empty.reward:g}, wanted 0: {empty.why}"
    if gold.reward != 1.0:
        return f"the gold patch scores {gold.reward:g}, wanted 1: {gold.why}"
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
    """None where the text is no report of this format."""
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
