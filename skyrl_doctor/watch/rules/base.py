"""What all rules share: their form, remedies, and counting how long something is bad before it is said."""

from collections.abc import Callable
from typing import Any

from skyrl_doctor.core.model import Remedy, RemedyKind
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Said
from skyrl_doctor.watch.observations import Observation

Judged = tuple[Any, tuple[Said, ...]]


@record
class Rule:
    """`state` is the type of the rule's memory; its defaults are how it starts."""

    name: str
    state: type[Any]
    judge: Callable[[Any, Observation], Judged]


@record
class Streak:
    """Bad ones in a row, good ones in a row, and whether it was said: a single good one takes nothing back."""

    bad: int = 0
    good: int = 0
    said: bool = False

    def after(self, *, is_bad: bool, say_after: int, clear_after: int) -> "Streak":
        bad = self.bad + 1 if is_bad else 0
        good = 0 if is_bad else self.good + 1
        said = (self.said and good < clear_after) or bad >= say_after
        return Streak(bad, good, said)


def fix_config(summary: str, **settings: str) -> Remedy:
    named = {name.replace("__", "."): value for name, value in settings.items()}
    return Remedy(kind=RemedyKind.FIX_CONFIG, summary=summary, settings=named)


def fix_env(summary: str, *commands: str) -> Remedy:
    return Remedy(kind=RemedyKind.FIX_ENV, summary=summary, commands=commands)


def lasting(seconds: float) -> str:
    """90 s, 12 min, 3.5 h: as people say it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
