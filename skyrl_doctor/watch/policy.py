"""What to do about a root cause: only report it, stop the job, or requeue it on hold. Pure.

This run may survive a log line that ends most runs. So a root cause from a log counts only after a time without
progress; one from the run's own figures was bad for several steps already and counts at once.
"""

from dataclasses import replace
from enum import StrEnum

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Alert


class Policy(StrEnum):
    REPORT = "report"
    STOP = "stop"
    HOLD = "hold"


class Action(StrEnum):
    """In this order: ask the job to end; after the grace time end it, or hold it."""

    ASK = "ask"
    END = "end"
    HOLD = "hold"


@record(kw_only=True)
class Limits:
    settle_s: float = 120.0
    grace_s: float = 60.0


@record(kw_only=True)
class Case:
    """The root cause that the policy acts on, and how far it went."""

    key: str = ""
    id: str = ""
    why: str = ""
    since: float = 0.0
    settled: bool = False
    asked_at: float | None = None
    done: bool = False


def with_root(case: Case, one: Alert) -> Case:
    """The case with this root cause. The first one counts, until the run survives it."""
    if not one.root or case.key:
        return case
    return Case(key=one.key, id=one.id, why=one.finding.message, since=one.at, settled=not _needs_settling(one.key))


def decide(
    case: Case, policy: Policy, limits: Limits, *, now: float, progress_at: float | None
) -> tuple[Case, Action | None]:
    """The action for now. Each is given once."""
    if not case.key or case.done or policy is Policy.REPORT:
        return _survived(case, progress_at), None
    if case.asked_at is not None:
        if now - case.asked_at < limits.grace_s:
            return case, None
        return replace(case, done=True), Action.HOLD if policy is Policy.HOLD else Action.END
    case = _survived(case, progress_at)
    if case.key and (case.settled or now - case.since >= limits.settle_s):
        return replace(case, asked_at=now), Action.ASK
    return case, None


def _survived(case: Case, progress_at: float | None) -> Case:
    """Drops a case that the run survived: it made progress after the line."""
    if case.settled or case.asked_at is not None or progress_at is None or progress_at <= case.since:
        return case
    return Case()


def _needs_settling(key: str) -> bool:
    return key.endswith((".log.root", ".runtime-over"))
