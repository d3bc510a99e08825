"""Plots as inline SVG. Each is a figure with a caption in words, so that it can be read without seeing it."""

import math
from collections.abc import Sequence

from skyrl_doctor.core.record import record
from skyrl_doctor.html.markup import Html, join, tag

WIDTH, HEIGHT = 380, 130
LEFT, RIGHT, TOP, BOTTOM = 54, 8, 8, 18
MOST_POINTS = 760
GRID_WIDTH, GRID_HEIGHT, SMALLEST = 960, 200, 2.0
BAR = 20.0
NO_STEP = -1
"""The step of rollouts whose file names none."""
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
        [_curve(run) for run in _runs(series.points, scale)],
        [tag("circle", class_="bad", cx=scale.x(step), cy=HEIGHT - BOTTOM, r=2.5) for step in bad[:MOST_POINTS]],
    )
    low, high = _label(min(values)), _label(max(values))
    every = "" if len(series.points) == 1 else " at every step"
    words = f"{low}{every}" if low == high else f"{_label(values[-1])} at the last step"
    more = f"; {len(bad)} not finite" if bad else ""
    between = "" if low == high else f"; {low} to {high}"  # the axis has them
    return _figure(title, f"{words}{more}", drawn, read_as=f"{words}{between}{more}")


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
        edge = _edge(steps, above, scale)
        back = _edge(steps, below, scale)
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
    return _figure(title, f"mean {_label(sum(totals) / len(totals))}", join(_axes(scale), areas), legend)


def _edge(steps: Sequence[int], values: Sequence[float], scale: _Scale) -> list[str]:
    """The points of an area's edge. A single step is as wide as a bar."""
    if len(steps) == 1:
        middle = float(scale.x(steps[0]))
        return [f"{_short(middle + aside)},{scale.y(values[0])}" for aside in (-BAR, BAR)]
    return [f"{scale.x(step)},{scale.y(value)}" for step, value in zip(steps, values, strict=True)]


@record
class Kind:
    """A kind of rollout in the grid: its class of the style, and its name in the legend."""

    style: str
    name: str


def grid_plot(title: str, columns: Sequence[tuple[int, Sequence[Kind]]]) -> Html:
    """A block of squares for each step, from left to right, one square for each rollout, coloured by its kind."""
    tallest = max((len(column) for _, column in columns), default=0)
    if not tallest:
        return Html()
    width = max(SMALLEST, GRID_WIDTH / len(columns))
    side, abreast = _squares(width, tallest)
    paths: dict[Kind, list[str]] = {}
    square = f"h{_short(side * 0.86)}v{_short(side * 0.86)}h-{_short(side * 0.86)}z"
    for number, (_, column) in enumerate(columns):
        for place, kind in enumerate(column):
            row, at = divmod(place, abreast)
            paths.setdefault(kind, []).append(f"M{_short(number * width + at * side)},{_short(row * side)}{square}")
    counted = ", ".join(f"{len(squares)} {kind.name}" for kind, squares in paths.items())
    legend = tag(
        "ul",
        [tag("li", tag("span", class_=f"key {kind.style}"), f"{len(paths[kind])} {kind.name}") for kind in paths],
        class_="legend",
    )
    drawn = [tag("path", class_=f"cell {kind.style}", d="".join(squares)) for kind, squares in paths.items()]
    box = f"0 0 {_short(len(columns) * width)} {_short(math.ceil(tallest / abreast) * side)}"
    first, last = columns[0][0], columns[-1][0]
    steps = "without a step" if last == NO_STEP else f"step {last}" if first == last else f"steps {first} to {last}"
    label = f"{title}: {counted}, {steps}"
    picture = tag("svg", drawn, viewBox=box, role="img", aria_label=label, class_="grid")
    caption = tag("figcaption", tag("b", title), f" {steps}", ", left to right" if first < last else "")
    return tag("figure", caption, picture, legend, class_="wide")


def _squares(width: float, tallest: int) -> tuple[float, int]:
    """The side of a square and how many stand abreast in a step's block, so that the tallest block fits."""
    room = width * 0.94 if width > 2 * SMALLEST else width
    for side in (12.0, 10.0, 8.0, 6.0, 4.0, 3.0):
        abreast = int(room / side)
        if abreast and math.ceil(tallest / abreast) * side <= GRID_HEIGHT:
            return side, abreast
    return SMALLEST, max(1, int(room / SMALLEST))


def figure(value: float) -> str:
    """A value in four digits."""
    return f"{value:.4g}"


def _figure(title: str, words: str, drawn: Html, legend: Html | None = None, *, read_as: str = "") -> Html:
    """A picture with its caption. `read_as` is the caption for readers who do not see the picture."""
    caption = tag("figcaption", tag("b", title), " ", words)
    picture = tag("svg", drawn, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=f"{title}: {read_as or words}")
    return tag("figure", caption, picture if drawn else None, legend)


def _axes(scale: _Scale) -> Html:
    bottom, middle = HEIGHT - BOTTOM, _short((HEIGHT - BOTTOM + TOP) / 2)
    return join(
        tag("line", class_="axis", x1=LEFT, x2=WIDTH - RIGHT, y1=bottom, y2=bottom),
        tag("line", class_="axis faint", x1=LEFT, x2=WIDTH - RIGHT, y1=middle, y2=middle),
        tag("line", class_="axis faint", x1=LEFT, x2=WIDTH - RIGHT, y1=TOP, y2=TOP),
        [
            tag("text", _label(value), x=LEFT - 5, y=_short(float(scale.y(value)) + 4), text_anchor="end")
            for value in sorted({scale.low, scale.high})
        ],
        tag("text", f"step {scale.first:g}", x=LEFT, y=HEIGHT - 4),
        tag("text", f"{scale.last:g}", x=WIDTH - RIGHT, y=HEIGHT - 4, text_anchor="end")
        if scale.last > scale.first
        else None,
    )


def _label(value: float) -> str:
    """A value of an axis, in at most seven letters: there is room for no more."""
    size = abs(value)
    if size and (size < 1e-3 or size >= 1e12):
        number, _, power = f"{value:.1e}".partition("e")
        return f"{number.removesuffix('.0')}e{int(power)}"
    if size < 1e4:
        return f"{value:.0f}" if size >= 1e3 else f"{value:.3g}" if size >= 1e-2 else f"{value:.2g}"
    unit, of = next((unit, of) for unit, of in (("G", 1e9), ("M", 1e6), ("k", 1e3)) if size >= of)
    return f"{value / of:.4g}{unit}"


def _scale(points: Sequence[tuple[int, float]], low: float, high: float) -> _Scale:
    return _Scale(points[0][0], points[-1][0], low, high)


def _curve(run: Sequence[str]) -> Html:
    """A line through the points, or a dot for a single one."""
    if len(run) > 1:
        return tag("polyline", class_="c0", points=" ".join(run))
    x, _, y = run[0].partition(",")
    return tag("circle", class_="dot", cx=x, cy=y, r=3)


def _runs(points: Sequence[tuple[int, float]], scale: _Scale) -> list[list[str]]:
    """The points between the gaps, as SVG writes them."""
    every = math.ceil(len(points) / MOST_POINTS)
    runs: list[list[str]] = [[]]
    for number, (step, value) in enumerate(points):
        if not math.isfinite(value):
            runs.append([])
        elif number % every == 0 or number == len(points) - 1:
            runs[-1].append(f"{scale.x(step)},{scale.y(value)}")
    return [run for run in runs if run]


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
