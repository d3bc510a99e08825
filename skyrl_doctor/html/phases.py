"""The phases of the training steps on one line of time: a lane for each phase, and marks for faults and for the failure."""

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from skyrl_doctor.core.record import record
from skyrl_doctor.html.markup import Html, join, tag
from skyrl_doctor.html.parts import plural
from skyrl_doctor.watch.figures import PHASES, STEP_S
from skyrl_doctor.watch.observations import Step
from skyrl_doctor.watch.past_steps import StepFault
from skyrl_doctor.watch.rules.base import duration

WIDTH, LEFT, RIGHT, LANE, FOOT, MARK = 960, 172, 8, 15, 16, 13
MOST_BLOCKS, MOST_MARKS = 120, 8
COLOURS = 8
OTHER = "other"
LEAST_SHARE = 0.005
"""The part of the time from which a phase gets a lane: a shorter one is not seen."""


@record
class _Block:
    """Some steps one after the other: their numbers and the seconds of each phase."""

    first: int
    last: int
    seconds: dict[str, float]

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


def phases_plot(steps: Sequence[Step], faults: Sequence[StepFault] = (), failure: str = "") -> Html | None:
    """The lanes; None where no step has the seconds of a phase. `failure` is the id of what ended the run after the last step."""
    timed = [(step.step, seconds) for step in steps if (seconds := _seconds(step))]
    if not any(name != OTHER for _, seconds in timed for name in seconds):
        return None
    blocks = [_block(some) for some in _batched(timed)]
    whole = sum(block.total for block in blocks)
    shares = {name: sum(block.seconds.get(name, 0.0) for block in blocks) / whole for name in (*PHASES, OTHER)}
    lanes = [name for name, share in shares.items() if share >= LEAST_SHARE]
    begins = [*accumulate((block.total for block in blocks), initial=0.0)]

    def x(seconds: float) -> float:
        return LEFT + seconds / whole * (WIDTH - LEFT - RIGHT)

    marks = [*_marks(blocks, begins, faults, failure)]
    top = len(marks) * MARK + 2
    bars = [
        tag(
            "rect",
            class_=f"area c{lane % COLOURS}",
            x=_short(x(at)),
            y=top + lane * LANE + 2,
            width=_short(x(end) - x(at)),
            height=LANE - 4,
        )
        for block, begin in zip(blocks, begins, strict=False)
        for lane, at, end in _spans(block, begin, lanes)
    ]
    bottom = top + len(lanes) * LANE
    words = f"{plural(len(timed), 'step')} in {duration(whole)}"
    parts = ", ".join(f"{name} {shares[name]:.0%}" for name in lanes)
    told = "".join(f"; {text}" for _, _, text in marks)
    picture = tag(
        "svg",
        [_lane(top + lane * LANE, f"{name} {shares[name]:.0%}") for lane, name in enumerate(lanes)],
        bars,
        [_mark(x(at), row, style, text, bottom) for row, (at, style, text) in enumerate(marks)],
        tag("text", f"step {blocks[0].first}", x=LEFT, y=bottom + FOOT - 3),
        tag("text", f"step {blocks[-1].last}", x=WIDTH - RIGHT, y=bottom + FOOT - 3, text_anchor="end"),
        viewBox=f"0 0 {WIDTH} {bottom + FOOT}",
        role="img",
        aria_label=f"Phases of the steps: {words}: {parts}{told}",
    )
    return tag(
        "figure",
        tag("figcaption", tag("b", "Phases of the steps"), f" {words}, one after the other"),
        picture,
        class_="wide",
    )


def _seconds(step: Step) -> dict[str, float]:
    """The seconds of each phase of a step, and of what no phase explains."""
    values = {name: figure.value(step.metrics) for name, figure in PHASES.items()}
    found = {name: value for name, value in values.items() if value is not None and math.isfinite(value) and value > 0}
    took = STEP_S.value(step.metrics)
    rest = took - sum(found.values()) if took is not None and math.isfinite(took) else 0.0
    return {**found, OTHER: rest} if rest > 0 else found


def _batched(timed: Sequence[tuple[int, dict[str, float]]]) -> Iterator[Sequence[tuple[int, dict[str, float]]]]:
    """The steps in blocks, of several steps each where there are many."""
    size = math.ceil(len(timed) / MOST_BLOCKS)
    return (timed[at : at + size] for at in range(0, len(timed), size))


def _block(some: Sequence[tuple[int, dict[str, float]]]) -> _Block:
    names = {name for _, seconds in some for name in seconds}
    return _Block(some[0][0], some[-1][0], {name: sum(one.get(name, 0.0) for _, one in some) for name in names})


def _spans(block: _Block, begin: float, lanes: Sequence[str]) -> Iterator[tuple[int, float, float]]:
    """The lane, the begin and the end of each phase of a block: they follow each other as in a step."""
    ends = accumulate((block.seconds.get(name, 0.0) for name in lanes), initial=begin)
    yield from ((lane, at, end) for lane, (at, end) in enumerate(pairwise(ends)) if end > at)


def _marks(
    blocks: Sequence[_Block], begins: Sequence[float], faults: Sequence[StepFault], failure: str
) -> Iterator[tuple[float, str, str]]:
    """The place, the style and the text of each mark: where a fault of the steps begins, and the end of a run that failed."""
    for fault in faults[:MOST_MARKS]:
        at = next((begin for block, begin in zip(blocks, begins, strict=False) if fault.step <= block.last), begins[-1])
        yield at, "error" if fault.is_error else "warning", f"{fault.id} from step {fault.step}"
    if failure:
        yield begins[-1], "root", f"{failure} after step {blocks[-1].last}"


def _lane(top: int, text: str) -> Html:
    line = top + LANE
    return join(
        tag("text", text, x=LEFT - 6, y=line - 4, text_anchor="end"),
        tag("line", class_="axis faint", x1=LEFT, x2=WIDTH - RIGHT, y1=line, y2=line),
    )


def _mark(x: float, row: int, style: str, text: str, bottom: int) -> Html:
    """A line through all lanes, with its text in a row of its own above them."""
    is_right, y = x > WIDTH / 2, (row + 1) * MARK - 3
    return join(
        tag("line", class_=f"event {style}", x1=_short(x), x2=_short(x), y1=y - 8, y2=bottom),
        tag("text", text, x=_short(x - 4 if is_right else x + 4), y=y, text_anchor="end" if is_right else "start"),
    )


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
