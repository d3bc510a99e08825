"""What is done about a root finding: nothing but telling, or stopping the job, or putting it back on hold. Pure.

A line in a log that ends most runs may be survived by this one. So a root out of a log counts only when nothing has
moved for a while after it; one out of the run's own figures was bad for several steps already and counts at once.
"""

from dataclasses import replace
from enum import StrEnum

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Raised


class Policy(StrEnum):
    REPORT = "report"
    STOP = "stop"
    HOLD = "hold"


class Deed(StrEnum):
    """In this order: ask the job to end, and after the grace end it, or hold it."""

    ASK = "ask"
    END = "end"
    HOLD = "hold"


@record(kw_only=True)
class Limits:
    settle_s: float = 120.0
    grace_s: float = 60.0


@record(kw_only=True)
class Case:
    """The root that the policy looks at, and how far it went."""

    key: str = ""
    id: str = ""
    why: str = ""
    since: float = 0.0
    settled: bool = False
    asked_at: float | None = None
    done: bool = False


def with_root(case: Case, one: Raised) -> Case:
    """The first root counts, until it turns out that the run survives it."""
    if not one.root or case.key:
        return case
    return Case(key=one.key, id=one.id, why=one.finding.message, since=one.at, settled=not _needs_settling(one.key))


def decide(
    case: Case, policy: Policy, limits: Limits, *, now: float, progress_at: float | None
) -> tuple[Case, Deed | None]:
    """What to do now. Each deed is given once."""
    if not case.key or case.done or policy is Policy.REPORT:
        return _survived(case, progress_at), None
    if case.asked_at is not None:
        if now - case.asked_at < limits.grace_s:
            return case, None
        return replace(case, done=True), Deed.HOLD if policy is Policy.HOLD else Deed.END
    case = _survived(case, progress_at)
    if case.key and (case.settled or now - case.since >= limits.settle_s):
        return replace(case, asked_at=now), Deed.ASK
    return case, None


def _survived(case: Case, progress_at: float | None) -> Case:
    """A run that moves after the line was not ended by it."""
    if case.settled or case.asked_at is not None or progress_at is None or progress_at <= case.since:
        return case
    return Case()


def _needs_settling(key: str) -> bool:
    return key.endswith((".log.root", ".runtime-over"))
