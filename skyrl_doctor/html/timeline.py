"""The timeline of a job: its events as a picture and as a table."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from skyrl_doctor.html.job import Job
from skyrl_doctor.html.markup import Html, join, tag
from skyrl_doctor.html.parts import facts, table
from skyrl_doctor.html.phases import phases_plot
from skyrl_doctor.watch.past_steps import StepFault
from skyrl_doctor.watch.rules.base import duration

WIDTH, HEIGHT, MARGIN = 960, 42, 3
MOST = 400
UNKNOWN = "unknown"


def timeline_section(job: Job, faults: Sequence[StepFault] = (), failure: str = "") -> Html:
    """How long the job took and cost, the phases of its steps, then what happened in it."""
    rows = sorted((*_events(job.events), *_ends(job)), key=lambda row: row[0])[:MOST]
    cells = [(_clock(at), kind, text) for at, kind, text in rows]
    return join(
        facts(cost(job)),
        phases_plot(job.steps, faults, failure),
        _picture(job, rows),
        table("What happened (times in UTC)", ("time", "event", "text"), cells)
        if rows
        else tag("p", "No events: the job was not watched."),
    )


def cost(job: Job) -> Iterator[tuple[str, str]]:
    """How long the job took, on how many GPUs, and what came after the failure."""
    seconds, gpus = job.duration_s, job.gpus
    yield "duration", UNKNOWN if seconds is None else f"{duration(seconds)}{_part(job, seconds)}"
    source = f" ({job.gpus_from})" if job.gpus_from else ""
    yield "GPUs", UNKNOWN if gpus is None else f"{gpus}{source}"
    yield "GPU-hours", UNKNOWN if seconds is None or gpus is None else f"{seconds * gpus / 3600:.2f}"
    yield "steps", str(len(job.steps))
    if job.outages:
        yield "sandbox infrastructure", job.outages
    if job.watched_s is not None and seconds is not None and job.watched_s < seconds:
        yield "watched", f"{duration(job.watched_s)} of it"
    if job.wasted_s is not None and job.wasted_s >= 1:
        yield "after the root cause", f"{duration(job.wasted_s)} (by {job.wasted_from})"
        if gpus is not None:
            yield "GPU-hours after it", f"{job.wasted_s * gpus / 3600:.2f}"


def _part(job: Job, seconds: float) -> str:
    """Which part of the job is known to take this long, where it was not watched as a whole."""
    if seconds == job.watched_s:
        return ""
    if seconds == job.clocked_s:
        return " (by the clocks of a log)"
    return " (its steps)" if seconds == job.seconds_of_steps else " or more (from the root cause on)"


def _events(events: Sequence[Mapping[str, Any]]) -> Iterator[tuple[float, str, str]]:
    for one in events:
        kind = str(one["event"])
        if kind == "finding":
            word = "root cause" if one.get("root") else str(one.get("severity"))
            yield _at(one), word, f"{one.get('id')} {one.get('slug')}: {one.get('message')}"
        elif kind == "cleared":
            yield _at(one), kind, f"{one.get('key')} is over"
        else:
            yield _at(one), kind, str(one.get("done") or one.get("why") or one.get("message") or "")


def _at(one: Mapping[str, Any]) -> float:
    at = one.get("at")
    return float(at) if isinstance(at, int | float) else 0.0


def _ends(job: Job) -> Iterator[tuple[float, str, str]]:
    for role, at, how in job.ends:
        yield at, "end", f"the {role} {how}"


def _picture(job: Job, rows: Sequence[tuple[float, str, str]]) -> Html | None:
    begun, ended = job.begun_at, job.ended_at
    if begun is None or ended is None or ended <= begun:
        return None

    def x(at: float) -> str:
        return f"{MARGIN + (min(max(at, begun), ended) - begun) / (ended - begun) * (WIDTH - 2 * MARGIN):.1f}"

    marks = [tag("line", class_=f"event {_style(kind)}", x1=x(at), x2=x(at), y1=8, y2=34) for at, kind, _ in rows]
    words = f"{len(rows)} events in {duration(ended - begun)}, from {_clock(begun)} to {_clock(ended)}"
    picture = tag(
        "svg",
        tag("rect", class_="span", x=MARGIN, y=16, width=WIDTH - 2 * MARGIN, height=10, rx=2),
        marks,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=words,
    )
    return tag("figure", tag("figcaption", tag("b", "Timeline"), f" {words}"), picture, class_="wide")


def _style(kind: str) -> str:
    return {"root cause": "root", "error": "error", "warning": "warning"}.get(kind, "note")


def _clock(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return UNKNOWN
