"""What all rules share: their form, their advice, and counting how long something is bad before it is reported."""

from collections.abc import Callable
from typing import Any

from skyrl_doctor.core.model import RemedyKind
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Advice, Change, Update
from skyrl_doctor.watch.observations import Observation

Judged = tuple[Any, tuple[Update, ...]]


@record
class Rule:
    """`state` is the type of the rule's memory; its defaults are how it starts."""

    name: str
    state: type[Any]
    judge: Callable[[Any, Observation], Judged]


@record
class Streak:
    """Bad results in a row, good results in a row, and whether it is reported: one good result clears nothing."""

    bad: int = 0
    good: int = 0
    reported: bool = False

    def after(self, *, is_bad: bool, report_after: int, clear_after: int) -> "Streak":
        bad = self.bad + 1 if is_bad else 0
        good = 0 if is_bad else self.good + 1
        reported = (self.reported and good < clear_after) or bad >= report_after
        return Streak(bad, good, reported)


def fix_config(summary: str, *changes: Change) -> Advice:
    """Advice to change the configuration, with the settings to change."""
    return Advice(kind=RemedyKind.FIX_CONFIG, summary=summary, changes=changes)


def fix_env(summary: str, *commands: str) -> Advice:
    """Advice to change the node."""
    return Advice(kind=RemedyKind.FIX_ENV, summary=summary, commands=commands)


def duration(seconds: float) -> str:
    """A duration for a person: 90 s, 12 min, 3.5 h."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
