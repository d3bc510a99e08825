"""Plots as inline SVG. Each is a figure with a caption in words, so that it can be read without seeing it."""

import math
from collections.abc import Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.html.markup import Html, join, tag

WIDTH, HEIGHT = 380, 130
LEFT, RIGHT, TOP, BOTTOM = 54, 8, 8, 18
MOST_POINTS = 760
COLOURS = 8
"""The classes c0 to c7 of the style."""


@record
class Series:
    """The values of a figure by training step. What is not finite leaves a gap and a mark."""

    name: str
    points: tuple[tuple[int, float], ...]

    @property
    def finite(self) -> list[float]:
        return [value for _, value in self.points if math.isfinite(value)]


@record
class _Scale:
    """Places steps and values in the picture."""

    first: float
    last: float
    low: float
    high: float

    def x(self, step: float) -> str:
        share = (step - self.first) / (self.last - self.first) if self.last > self.first else 0.5
        return _short(LEFT + share * (WIDTH - LEFT - RIGHT))

    def y(self, value: float) -> str:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return _short(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM))


def line_plot(title: str, series: Series) -> Html:
    """A curve over the training steps."""
    values = series.finite
    if not values:
        return _figure(title, f"no finite value in {len(series.points)} steps", Html())
    scale = _scale(series.points, min(values), max(values))
    bad = [step for step, value in series.points if not math.isfinite(value)]
    drawn = join(
        _axes(scale),
        [tag("polyline", class_="c0", points=run) for run in _runs(series.points, scale)],
        [tag("circle", class_="bad", cx=scale.x(step), cy=HEIGHT - BOTTOM, r=2.5) for step in bad[:MOST_POINTS]],
    )
    words = f"{figure(values[-1])} at the last step; {figure(min(values))} to {figure(max(values))}"
    return _figure(title, words + (f"; {len(bad)} not finite" if bad else ""), drawn)


def stack_plot(title: str, series: Sequence[Series]) -> Html:
    """Parts of a whole over the training steps, one upon the other."""
    shown = series[:COLOURS]
    steps = sorted({step for one in shown for step, _ in one.points})
    if not steps:
        return _figure(title, "no values", Html())
    by_step = [{step: max(0.0, value) for step, value in one.points if math.isfinite(value)} for one in shown]
    totals = [sum(one.get(step, 0.0) for one in by_step) for step in steps]
    scale = _Scale(steps[0], steps[-1], 0.0, max(totals) or 1.0)
    below, areas = [0.0] * len(steps), list[Html]()
    for number, one in enumerate(by_step):
        above = [base + one.get(step, 0.0) for base, step in zip(below, steps, strict=True)]
        edge = [f"{scale.x(step)},{scale.y(value)}" for step, value in zip(steps, above, strict=True)]
        back = [f"{scale.x(step)},{scale.y(value)}" for step, value in zip(steps, below, strict=True)]
        areas.append(tag("path", class_=f"area c{number}", d=f"M{'L'.join([*edge, *reversed(back)])}Z"))
        below = above
    sums = [sum(one.values()) for one in by_step]
    legend = tag(
        "ul",
        [
            tag("li", tag("span", class_=f"key c{number}"), f"{one.name} {sums[number] / (sum(sums) or 1.0):.0%}")
            for number, one in enumerate(shown)
        ],
        class_="legend",
    )
    return _figure(title, f"mean {figure(sum(totals) / len(totals))}", join(_axes(scale), areas), legend)


@record
class Kind:
    """A kind of rollout in the grid: its class of the style, and its name in the legend."""

    style: str
    name: str


def grid_plot(title: str, columns: Sequence[tuple[int, Sequence[Kind]]]) -> Html:
    """A column of squares for each step, one square for each rollout, coloured by its kind."""
    tallest = max((len(column) for _, column in columns), default=0)
    if not tallest:
        return Html()
    width, height = max(2.0, 960 / len(columns)), max(2.0, min(10.0, 200 / tallest))
    paths: dict[Kind, list[str]] = {}
    for number, (_, column) in enumerate(columns):
        for row, kind in enumerate(column):
            side = f"h{_short(width * 0.86)}v{_short(height * 0.86)}h-{_short(width * 0.86)}z"
            paths.setdefault(kind, []).append(f"M{_short(number * width)},{_short(row * height)}{side}")
    counted = ", ".join(f"{len(squares)} {kind.name}" for kind, squares in paths.items())
    legend = tag(
        "ul",
        [tag("li", tag("span", class_=f"key {kind.style}"), f"{kind.name} {len(paths[kind])}") for kind in paths],
        class_="legend",
    )
    drawn = [tag("path", class_=f"cell {kind.style}", d="".join(squares)) for kind, squares in paths.items()]
    box = f"0 0 {_short(len(columns) * width)} {_short(tallest * height)}"
    label = f"{title}: {counted}, by step from {columns[0][0]} to {columns[-1][0]}"
    picture = tag("svg", drawn, viewBox=box, role="img", aria_label=label, class_="grid", preserveAspectRatio="none")
    caption = tag("figcaption", tag("b", title), f" steps {columns[0][0]} to {columns[-1][0]}, left to right")
    return tag("figure", caption, picture, legend, class_="wide")


def figure(value: float) -> str:
    """A value in four digits."""
    return f"{value:.4g}"


def _figure(title: str, words: str, drawn: Html, legend: Html | None = None) -> Html:
    caption = tag("figcaption", tag("b", title), " ", words)
    picture = tag("svg", drawn, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=f"{title}: {words}")
    return tag("figure", caption, picture if drawn else None, legend)


def _axes(scale: _Scale) -> Html:
    bottom, middle = HEIGHT - BOTTOM, _short((HEIGHT - BOTTOM + TOP) / 2)
    return join(
        tag("line", class_="axis", x1=LEFT, x2=WIDTH - RIGHT, y1=bottom, y2=bottom),
        tag("line", class_="axis faint", x1=LEFT, x2=WIDTH - RIGHT, y1=middle, y2=middle),
        tag("line", class_="axis faint", x1=LEFT, x2=WIDTH - RIGHT, y1=TOP, y2=TOP),
        tag("text", f"{scale.high:.3g}", x=LEFT - 5, y=TOP + 4, text_anchor="end"),
        tag("text", f"{scale.low:.3g}", x=LEFT - 5, y=bottom, text_anchor="end") if scale.high > scale.low else None,
        tag("text", f"step {scale.first:g}", x=LEFT, y=HEIGHT - 4),
        tag("text", f"{scale.last:g}", x=WIDTH - RIGHT, y=HEIGHT - 4, text_anchor="end"),
    )


def _scale(points: Sequence[tuple[int, float]], low: float, high: float) -> _Scale:
    return _Scale(points[0][0], points[-1][0], low, high)


def _runs(points: Sequence[tuple[int, float]], scale: _Scale) -> list[str]:
    """The points between the gaps, as SVG writes them. A single point is a short line."""
    every = math.ceil(len(points) / MOST_POINTS)
    runs: list[list[str]] = [[]]
    for number, (step, value) in enumerate(points):
        if not math.isfinite(value):
            runs.append([])
        elif number % every == 0 or number == len(points) - 1:
            runs[-1].append(f"{scale.x(step)},{scale.y(value)}")
    return [" ".join(run if len(run) > 1 else run * 2) for run in runs if run]


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
