"""The lines that the watch prints besides its alerts: what it watches, each step, what is open."""

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import datetime

from skyrl_doctor.logs.read.watch_lines import WATCH_PREFIX
from skyrl_doctor.report.plain import plain
from skyrl_doctor.watch.figures import PLOTTED, STEP_S
from skyrl_doctor.watch.finding import Alert
from skyrl_doctor.watch.follow.files import listing
from skyrl_doctor.watch.observations import Step
from skyrl_doctor.watch.policy import Policy
from skyrl_doctor.watch.rules.base import duration
from skyrl_doctor.watch.rules.progress import START
from skyrl_doctor.watch.settings import Settings
from skyrl_doctor.watch.sink.joblog import line
from skyrl_doctor.watch.unmatched_end import UnmatchedEnd

MOST_NAMES = 8
PREFIX = WATCH_PREFIX.decode()


def introduction(settings: Settings) -> Iterator[str]:
    """What the watch observes, what it does about a root cause, and the logs that are there already."""
    places = (settings.place, *settings.logs)
    policy = "reports root causes" if settings.policy is Policy.REPORT else f"on a root cause: {settings.policy.value}"
    stored = "" if settings.writes else "; stores nothing"
    yield f"{PREFIX}watching {plain(', '.join((*places, *settings.vllm)))}; {policy}{stored}"
    yield _logs([seen.path for seen in listing(places).files], settings.place)


def _logs(paths: Sequence[str], place: str) -> str:
    if not paths:
        return f"{PREFIX}no logs yet; expected *.log, *.out, *.err or *.txt"
    names = [os.path.relpath(path, place) if path.startswith(f"{place}{os.sep}") else path for path in paths]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    count = "1 log" if len(names) == 1 else f"{len(names)} logs"
    return f"{PREFIX}following {count}: {plain(', '.join(names[:MOST_NAMES]))}{more}"


def steps(seen: Sequence[Step], *, all_of_them: bool) -> Iterator[str]:
    """A line for each step. Of steps from a backlog only the last one: a long run has thousands."""
    if not all_of_them and len(seen) > 1:
        yield f"{PREFIX}read {len(seen) - 1} earlier steps"
    for step in seen if all_of_them else seen[-1:]:
        yield f"{PREFIX}{step_text(step)}"


def step_text(step: Step) -> str:
    """`step 12, took 28 s: reward 0.31, gradient 0.4`."""
    took = STEP_S.value(step.metrics)
    time = f", took {duration(took)}" if took is not None and 0 < took < float("inf") else ""
    figures = {name: figure.value(step.metrics) for name, figure in PLOTTED.items() if figure is not STEP_S}
    texts = ", ".join(f"{name} {value:.4g}" for name, value in figures.items() if value is not None)
    return f"step {step.step}{time}{': ' if texts else ''}{texts}"


def still_open(
    alerts: Mapping[str, Alert], *, earlier: Container[str], unmatched: UnmatchedEnd | None, what: str, last_line: str
) -> Iterator[str]:
    """What is open at the end of one pass.

    `earlier` are the keys of the findings of earlier passes, `last_line` is the time of the last line, if that is known.
    """
    if unmatched is not None:
        yield f"{PREFIX}{_unmatched(unmatched)}"
    for one in sorted(alerts.values(), key=lambda one: (not one.root, -one.finding.severity, one.at, one.key)):
        yield f"{PREFIX}{_since(one, is_earlier=one.key in earlier)}: {line(one).removeprefix(PREFIX)}"
    number = len(alerts) + (unmatched is not None and unmatched.final)
    count = {0: "no open findings", 1: "1 open finding"}.get(number, f"{number} open findings")
    none = f"no step in the logs; last line at {last_line}" if last_line else "last activity: none in the logs"
    yield f"{PREFIX}{count}; {none if what == START else f'last activity: {plain(what)}'}"


def _unmatched(found: UnmatchedEnd) -> str:
    if found.final:
        return f"the run ended with {found.text}"
    over_at = datetime.fromtimestamp(found.until).astimezone().strftime("%H:%M")
    return f"{found.text}; if no log grows until {over_at}, the run ended with it"


def _since(one: Alert, *, is_earlier: bool) -> str:
    """Since when it is open. A log that is read late does not tell the time of a line, only the step."""
    if one.step is not None:
        return f"open since step {one.step}"
    return f"open, found {time_text(one.at)}" if is_earlier else "open"


def time_text(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
