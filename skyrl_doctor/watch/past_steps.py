"""What the figures of the steps in a finished log say: the faults that the watch reports, and what grew. For `diagnose`."""

import dataclasses
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.logs.cause.root_cause import Diagnosis
from skyrl_doctor.logs.read.contents import read_chunks
from skyrl_doctor.logs.read.sources import STDIN
from skyrl_doctor.watch.finding import Alert, Cleared
from skyrl_doctor.watch.observations import Step
from skyrl_doctor.watch.read.steps import StepReader
from skyrl_doctor.watch.rules import metrics, trends
from skyrl_doctor.watch.rules.conditions import CONDITIONS, Condition
from skyrl_train.contracts import bounded

MOST_BYTES = 64 << 20
"""Of each file, from its start."""
MOST_STEPS = 250
"""From the start of each file, and as many from its end: judging a step takes 0.2 ms."""
TAIL_BYTES = 4 << 20
MOST_FAULTS = 6
LEAST_STEPS = 4
GROWN = 1.1
MEMORY = ("perf/max_memory_allocated_gb", "perf/max_memory_reserved_gb", "Peak Mem.")
LENGTHS = ("response_length/mean", "generate/avg_num_tokens", "Seq. Length")
_CONDITIONS = {condition.key: condition for condition in CONDITIONS}
_ANY_STEP = re.compile(rb"\bstep:\d|\bStep \d|\{\"step\":\d")
_STEP_MARKS = (b"step:N - ", b"Step N |", b"Step N:", b'{"step":N,')


@record(kw_only=True)
class StepFault:
    """A fault of the steps that did not end: its message has the first bad step. `line` is 0 where it is not known."""

    id: str
    slug: str
    file: str
    line: int
    step: int
    message: str
    advice: str
    is_error: bool

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@record
class StepFigures:
    """What the steps of a job's logs say. `growth` is a sentence; empty where nothing grew."""

    faults: tuple[StepFault, ...] = ()
    growth: str = ""


def judged_steps(diagnosis: Diagnosis, files: Iterable[str]) -> StepFigures:
    """What the steps say, with the lines. Nothing of a log without steps, or with an error of which we know nothing."""
    if not diagnosis.has_steps or diagnosis.unknown:
        return StepFigures()
    return with_lines(read_step_figures(files))


def read_step_figures(files: Iterable[str]) -> StepFigures:
    """The open faults of all files, each once, and the growth in the file with the most steps."""
    faults: dict[str, StepFault] = {}
    longest: list[Step] = []
    for file in files:
        steps = [] if file == STDIN else _steps(file)
        longest = max(longest, steps, key=len)
        for key, fault in _faults(file, steps):
            faults.setdefault(key, fault)
    ordered = sorted(faults.values(), key=lambda fault: (not fault.is_error, fault.step))
    return StepFigures(tuple(ordered[:MOST_FAULTS]), describe_growth(longest))


def describe_growth(steps: Sequence[Step]) -> str:
    """How memory and lengths grew, in one sentence; empty where the memory did not."""
    memory = _ends(steps, MEMORY)
    if memory is None or memory[1] < GROWN * memory[0]:
        return ""
    lengths = _ends(steps, LENGTHS)
    grown = f"GPU memory grew from {memory[0]:.0f} to {memory[1]:.0f} GiB over {len(steps)} steps"
    if lengths is None or lengths[1] < GROWN * lengths[0]:
        return f"{grown}, and the length of the replies did not: look for a leak."
    return f"{grown} as the mean length grew from {lengths[0]:.0f} to {lengths[1]:.0f} tokens."


def _ends(steps: Sequence[Step], names: tuple[str, ...]) -> tuple[float, float] | None:
    """The first and the last value of the first of these figures that the steps have."""
    for name in names:
        values = [step.metrics[name] for step in steps if step.metrics.get(name, 0.0) > 0.0]
        if len(values) >= LEAST_STEPS:
            return values[0], values[-1]
    return None


def _steps(file: str) -> list[Step]:
    """The first and the last steps of a file."""
    found: list[Step] = []
    reader, rest, read = StepReader(), b"", 0
    try:
        for chunk in read_chunks(file):
            whole, end, rest = (rest + chunk).rpartition(b"\n")
            found += itertools.islice(reader.take(whole + end, 0.0), MOST_STEPS - len(found))
            read += len(chunk)
            if read >= MOST_BYTES or len(found) >= MOST_STEPS:
                return found + _last_steps(file, found)
        found += reader.take(rest + b"\n", 0.0)
    except OSError:  # diagnose has said so
        return found
    return found


def _last_steps(file: str, first: Sequence[Step]) -> list[Step]:
    """The steps at the end of a plain file that come after the first ones."""
    with bounded.open_file(file) as opened:
        opened.seek(max(0, os.fstat(opened.fileno()).st_size - TAIL_BYTES))
        text = opened.read(TAIL_BYTES).partition(b"\n")[2]
    reached = max((step.step for step in first), default=0)
    starts = [found.start() for found in _ANY_STEP.finditer(text)][-MOST_STEPS:]
    if not starts:
        return []
    begin = text.rfind(b"\n", 0, starts[0]) + 1
    return [step for step in StepReader().take(text[begin:] + b"\n", 0.0) if step.step > reached]


def _faults(file: str, steps: Sequence[Step]) -> Iterator[tuple[str, StepFault]]:
    open_alerts: dict[str, tuple[Alert, int]] = {}
    seen, trend = metrics.RULE.state(), trends.RULE.state()
    for at, step in enumerate(steps):
        seen, updates = metrics.RULE.judge(seen, step)
        trend, more = trends.RULE.judge(trend, step)
        for update in (*updates, *more):
            if isinstance(update, Cleared):
                open_alerts.pop(update.key, None)
            else:
                open_alerts[update.key] = (update, at)
    for key, (alert, at) in open_alerts.items():
        yield key, _fault(file, steps, alert, at)


def _fault(file: str, steps: Sequence[Step], alert: Alert, at: int) -> StepFault:
    condition = _CONDITIONS.get(alert.key)
    numbers = list(dict.fromkeys(step.step for step in steps[: at + 1]))
    first = numbers[-1]
    message = f"step {first}: {alert.finding.message}"
    advice = alert.finding.remedy.summary if alert.finding.remedy else ""
    if condition:
        first = numbers[-condition.after]
        is_exact = _before(first, steps) == first - 1
        message = _since(condition, alert, first, steps, is_exact=is_exact)
        advised = condition.advise(steps[at].trainer, first if is_exact else None)
        advice = advised.summary if advised else ""
    return StepFault(
        id=alert.id,
        slug=alert.slug,
        file=file,
        line=0,
        step=first,
        message=message,
        advice=advice,
        is_error=alert.root and alert.finding.severity is Severity.ERROR,
    )


def _before(first: int, steps: Sequence[Step]) -> int:
    """The last step before the first bad one that was read."""
    return max((step.step for step in steps if step.step < first), default=first - 1)


def _since(condition: Condition, alert: Alert, first: int, steps: Sequence[Step], *, is_exact: bool) -> str:
    wrong = alert.finding.evidence[0].partition(": ")[2]
    bad = dict.fromkeys(step.step for step in steps if step.step >= first and condition.fault(step.metrics))
    every = dict.fromkeys(step.step for step in steps if step.step >= first)
    since = f"step {first}" if is_exact else f"step {first} or before"
    return f"from {since} on, in {len(bad)} of {len(every)} steps: {wrong}; expected {condition.expected}"


def with_lines(figures: StepFigures) -> StepFigures:
    """The figures with the line of each first bad step."""
    placed = tuple(dataclasses.replace(fault, line=_line_of(fault.file, fault.step)) for fault in figures.faults)
    return dataclasses.replace(figures, faults=placed)


def _line_of(file: str, step: int) -> int:
    marks = [mark.replace(b"N", str(step).encode()) for mark in _STEP_MARKS]
    number, rest, read = 1, b"", 0
    try:
        for chunk in read_chunks(file):
            whole, end, rest = (rest + chunk).rpartition(b"\n")
            if places := [place for mark in marks if (place := whole.find(mark)) >= 0]:
                return number + whole.count(b"\n", 0, min(places))
            number, read = number + (whole + end).count(b"\n"), read + len(chunk)
            if read >= MOST_BYTES:
                return 0
    except OSError:
        return 0
    return number if any(mark in rest for mark in marks) else 0
