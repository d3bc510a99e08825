"""The sections about training: plots of the steps, seconds by phase, and the rollouts."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean, quantiles

from skyrl_doctor.html.job import Rollouts
from skyrl_doctor.html.markup import Html, join, tag
from skyrl_doctor.html.parts import folded, plural, table
from skyrl_doctor.html.plot import NO_STEP, Kind, Series, figure, grid_plot, line_plot, stack_plot
from skyrl_doctor.watch.figures import CUT, LONGEST, LOSS, MEMORY, PHASES, PLOTTED, PROBE_DIFFERENCE, PROBS_DIFF
from skyrl_doctor.watch.observations import Step
from skyrl_doctor.watch.rules.base import duration
from skyrl_train.contracts.rollout_summaries import Summary

FIGURES = {
    **PLOTTED,
    "loss": LOSS,
    "longest response": LONGEST,
    "cut responses": CUT,
    "probability mismatch": PROBS_DIFF,
    "weight probe": PROBE_DIFFERENCE,
    **MEMORY,
}
MOST_ROWS = 200
MOST_TABLE_STEPS = 2000
SOLVED = Kind("solved", "solved")
PARTLY = Kind("partly", "with a partial reward")
FAILED = Kind("failed", "with reward 0")
MASKED = Kind("masked", "masked")
UNSCORED = Kind("unscored", "without a reward")


def steps_section(steps: Sequence[Step], gpus: int | None) -> Html:
    """A plot for each figure that the steps have, and all of them in a table."""
    series = {name: one for name, one in ((name, _series(name, steps)) for name in FIGURES) if one.points}
    phases = _phases(steps)
    return join(
        tag(
            "div",
            [line_plot(name, one) for name, one in series.items()],
            stack_plot("seconds of a step by phase", phases) if phases else None,
            class_="plots",
        ),
        _phase_table(phases, gpus) if phases else None,
        folded(f"All figures of {plural(len(steps), 'step')}", _figures(steps, list(series.values()))),
    )


def _series(name: str, steps: Sequence[Step]) -> Series:
    figure_of = FIGURES[name]
    found = ((step.step, figure_of.value(step.metrics)) for step in steps)
    return Series(name, tuple((step, value) for step, value in found if value is not None))


def _phases(steps: Sequence[Step]) -> list[Series]:
    """The seconds of each phase of a step, the longest phase first. A phase inside another is left out."""
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for step in steps:
        for name, metric in PHASES.items():
            value = metric.value(step.metrics)
            if value is not None:
                found[name].append((step.step, value))
    series = [Series(name, tuple(points)) for name, points in found.items()]
    return sorted(series, key=lambda one: -sum(one.finite))


def _phase_table(phases: Sequence[Series], gpus: int | None) -> Html:
    heads = ("phase", "seconds", "mean of a step", *(("GPU-hours",) if gpus else ()))
    rows = []
    for one in phases:
        total = sum(one.finite)
        hours = (f"{total * gpus / 3600:.2f}",) if gpus else ()
        rows.append((one.name, duration(total), f"{total / max(1, len(one.finite)):.1f} s", *hours))
    return table("Time by phase", heads, rows, numbers=(1, 2, 3))


def _figures(steps: Sequence[Step], series: Sequence[Series]) -> Html:
    """The values behind the plots, for readers who do not see them."""
    by_step: dict[int, dict[str, str]] = defaultdict(dict)
    for one in series:
        for step, value in one.points:
            by_step[step][one.name] = figure(value)
    numbers = sorted(by_step)[-MOST_TABLE_STEPS:]
    names = [one.name for one in series]
    rows = [(str(number), *(by_step[number].get(name, "") for name in names)) for number in numbers]
    caption = f"Figures of the last {len(numbers)} of {plural(len(steps), 'step')}"
    return table(caption, ("step", *names), rows, numbers=range(len(names) + 1))


def rollouts_section(rollouts: Rollouts) -> Html:
    """The rollouts of all steps in a grid, then how they ended, their times and the tasks."""
    summaries = [summary for _, summary in rollouts]
    columns: dict[int, list[Kind]] = defaultdict(list)
    for step, summary in rollouts:
        columns[NO_STEP if step is None else step].append(_kind(summary))
    ordered = [(step, sorted(columns[step], key=lambda kind: kind.style)) for step in sorted(columns)]
    return join(
        grid_plot("Rollouts", ordered),
        tag("div", [line_plot(series.name, series) for series in _by_step(rollouts)], class_="plots"),
        table(
            "How rollouts ended", ("end", "rollouts", "mean reward", "mean turns"), _ends(summaries), numbers=(1, 2, 3)
        ),
        table(
            "Times of a rollout", ("part", "mean", "median", "95 %", "longest"), _times(summaries), numbers=(1, 2, 3, 4)
        ),
        _tasks(summaries),
        _troubles(rollouts),
    )


def _kind(one: Summary) -> Kind:
    if one.masked:
        return MASKED
    if one.reward is None:
        return UNSCORED
    return SOLVED if one.reward >= 1 else PARTLY if one.reward > 0 else FAILED


def _by_step(rollouts: Rollouts) -> Iterator[Series]:
    groups: dict[int, list[Summary]] = defaultdict(list)
    for step, summary in rollouts:
        if step is not None:
            groups[step].append(summary)
    if not groups:
        return
    for name, of in (
        ("mean turns of a rollout", lambda one: float(one.turns)),
        ("seconds in the sandbox", lambda one: one.command_s),
        ("seconds of the model", lambda one: one.reply_s),
        ("tokens of a rollout", lambda one: float(one.written + one.read)),
    ):
        yield Series(name, tuple((step, fmean(map(of, groups[step]))) for step in sorted(groups)))


def _ends(summaries: Sequence[Summary]) -> Iterator[Sequence[str]]:
    for finish, count in Counter(one.finish for one in summaries).most_common():
        group = [one for one in summaries if one.finish == finish]
        yield finish, str(count), _mean([one.reward for one in group]), f"{fmean(one.turns for one in group):.1f}"


def _times(summaries: Sequence[Summary]) -> Iterator[Sequence[str]]:
    for name, values in (
        ("whole", [one.duration_s for one in summaries]),
        ("model", [one.reply_s for one in summaries]),
        ("commands in the sandbox", [one.command_s for one in summaries]),
    ):
        finite = sorted(value for value in values if math.isfinite(value))
        if finite:
            shares = quantiles(finite, n=20, method="inclusive") if len(finite) > 1 else finite * 19
            yield name, *(f"{value:.1f} s" for value in (fmean(finite), shares[9], shares[18], finite[-1]))


def _tasks(summaries: Sequence[Summary]) -> Html:
    """The tasks with the lowest rewards first."""
    groups: dict[str, list[Summary]] = defaultdict(list)
    for one in summaries:
        groups[one.task].append(one)
    means = {task: _finite([one.reward for one in group]) for task, group in groups.items()}
    ordered = sorted(groups, key=lambda task: (fmean(means[task]) if means[task] else -1.0, -len(groups[task]), task))
    rows = [
        (task, str(len(groups[task])), _mean([one.reward for one in groups[task]]), str(_count_masked(groups[task])))
        for task in ordered[:MOST_ROWS]
    ]
    more = f", the {MOST_ROWS} with the lowest rewards" if len(ordered) > MOST_ROWS else ""
    title = f"{plural(len(ordered), 'task')}{more}"
    return folded(title, table(title, ("task", "rollouts", "mean reward", "masked"), rows, numbers=(1, 2, 3)))


def _troubles(rollouts: Rollouts) -> Html | None:
    """The rollouts that are not trained on, the last ones first."""
    found = [(step, one) for step, one in reversed(rollouts) if one.masked]
    rows = [
        (str(step or ""), one.task, one.rollout, one.finish, one.detail or one.why) for step, one in found[:MOST_ROWS]
    ]
    title = f"Masked rollouts: the last {len(rows)} of {len(found)}"
    return folded(title, table(title, ("step", "task", "rollout", "end", "reason"), rows)) if rows else None


def _count_masked(group: Sequence[Summary]) -> int:
    return sum(one.masked for one in group)


def _finite(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]


def _mean(values: Sequence[float | None]) -> str:
    finite = _finite(values)
    return f"{fmean(finite):.3f}" if finite else "none"
