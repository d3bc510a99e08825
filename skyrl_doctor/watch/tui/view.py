"""The text of the live view: activity, steps, rewards, memory, findings. It fits 80 x 24 and works without colour."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skyrl_doctor.report.plain import plain
from skyrl_doctor.watch.figures import CORRELATION, PLOTTED, STEP_S
from skyrl_doctor.watch.finding import Alert
from skyrl_doctor.watch.loop import Watch
from skyrl_doctor.watch.rules.base import duration
from skyrl_doctor.watch.rules.progress import patience_s

if TYPE_CHECKING:
    from rich.text import Text

BLOCKS = "▁▂▃▄▅▆▇█"
BAR = 20
MOST_FILLS = 5
STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}


def picture(watch: Watch, width: int, height: int, now: float) -> "Text":
    """All lines, cut to the size of the screen."""
    from rich.text import Text

    drawn = Text(no_wrap=True, overflow="ellipsis")
    lines = list(lines_of(watch, width, now))[: max(4, height - 1)]
    for style, line in lines:
        drawn.append(f"{line[: width - 1]}\n", style=style)
    return drawn


def lines_of(watch: Watch, width: int, now: float) -> Iterator[tuple[str, str]]:
    """Each line with its style."""
    yield "bold", plain(f"skyrl-doctor watch  {watch.settings.job_dir}")
    yield "", "-" * (width - 1)
    yield from _progress(watch, now)
    yield from _figures(watch)
    for name, (used, limit) in list(watch.fills.items())[:MOST_FILLS]:
        yield (
            _full_style(used / limit if limit else 0),
            f"{plain(name)[-28:]:<28} {bar(used, limit)} {used:7.1f} of {limit:.1f}",
        )
    yield "", ""
    yield "bold", f"Findings: {len(watch.open) or 'none'}"
    found = sorted(watch.open.values(), key=lambda one: (not one.root, -one.finding.severity, one.at))
    for one in found:
        yield from _finding(one, width, now)
    yield "dim", "q: quit"


def _progress(watch: Watch, now: float) -> Iterator[tuple[str, str]]:
    progress = watch.progress
    still = now - progress.at if progress.at is not None else 0.0
    patience = patience_s(progress)
    state = "ended: " + watch.over if watch.over else ("no progress" if still > patience / 2 else "running")
    alarm = f"stall alarm after {duration(patience)}"
    yield "", f"{state} · last activity: {plain(progress.what)}, {duration(still)} ago ({alarm})"
    gaps = progress.gaps
    if progress.step is not None:
        took = f" (last step took {duration(gaps[-1])})" if gaps else ""
        yield "", f"step {progress.step}{took}  {spark(gaps)}"
    else:
        yield "", "no step yet"
    for label, (done, total) in list(progress.bars.items())[-3:]:
        yield "", f"{plain(label)[:28] or 'progress':<28} {bar(done, total)} {done} of {total}"


def _figures(watch: Watch) -> Iterator[tuple[str, str]]:
    if watch.last_step is None:
        return
    metrics = watch.last_step.metrics
    named = {name: figure.value(metrics) for name, figure in PLOTTED.items() if figure is not STEP_S}
    named["correlation"] = CORRELATION.value(metrics)
    parts = [f"{name} {value:.4g}" for name, value in named.items() if value is not None]
    if parts:
        yield "", "  ".join(parts)
    rewards = watch.rewards
    if len(rewards) > 1:
        yield "", f"rewards  {spark(rewards)}  {min(rewards):.3g} to {max(rewards):.3g}"


def _finding(one: Alert, width: int, now: float) -> Iterator[tuple[str, str]]:
    word = "ROOT" if one.root else one.finding.severity.word
    head = f"{word:<8}{one.id} {one.slug}, {duration(max(0.0, now - one.at))} ago"
    yield STYLES[one.finding.severity.word], head
    text = " ".join(plain(one.finding.message).split())
    yield "", f"        {text[: max(20, width - 10)]}"


def _full_style(share: float) -> str:
    return "bold red" if share >= 0.97 else "yellow" if share >= 0.9 else ""


def bar(done: float, total: float) -> str:
    """[#####...............]"""
    filled = round(BAR * min(1.0, max(0.0, done / total))) if total > 0 else 0
    return f"[{'#' * filled}{'.' * (BAR - filled)}]"


def spark(values: tuple[float, ...], most: int = 20) -> str:
    """A line of block characters; empty for a single value."""
    last = [value for value in values if value == value and abs(value) != float("inf")][-most:]
    if len(last) < 2:
        return ""
    low, span = min(last), (max(last) - min(last)) or 1.0
    return "".join(BLOCKS[int((value - low) / span * (len(BLOCKS) - 1))] for value in last)
