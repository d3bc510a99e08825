"""What is wrong with the agent by now: pure rules over its counters, for whoever watches the run.

Each alarm carries the figure that was seen and the limit that it passed. A figure of too few rollouts says nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from skyrl_train.contracts.agent.finish import MASKED, Finish
from skyrl_train.contracts.agent.metrics import Counts

ENOUGH_TURNS, MAX_NO_CALLS = 20, 0.5
ENOUGH_ROLLOUTS = 8
MAX_MASKED = 0.5
USUAL_FINISH, FEW_FINISH = 0.3, 0.1
"""A run whose rollouts used to end with `finish` this often, and a step in which they hardly do."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """`id` is the catalogue's; `seen` and `limit` are shares or counts, as the message says."""

    id: str
    message: str
    seen: float
    limit: float


def live_alarms(step: Counts, run: Counts) -> tuple[Alarm, ...]:
    """Of the last step, and of the run with that step in it. The first are faults of set-up, the last one of training."""
    return (*_no_calls(run), *_unknown_tools(run), *_no_tools_at_all(run), *_degraded(step, run))


def _no_calls(run: Counts) -> Iterator[Alarm]:
    if run.turns >= ENOUGH_TURNS and run.no_calls > MAX_NO_CALLS * run.turns:
        message = f"{run.no_calls} of {run.turns} replies hold no call, wanted at most half of them"
        yield Alarm("AGT001", message, run.no_calls / run.turns, MAX_NO_CALLS)


def _unknown_tools(run: Counts) -> Iterator[Alarm]:
    if run.unknown_tools:
        message = f"{run.unknown_tools} of {run.turns} replies call a function that is not offered, wanted 0"
        yield Alarm("AGT002", message, run.unknown_tools, 0)


def _no_tools_at_all(run: Counts) -> Iterator[Alarm]:
    if run.rollouts >= ENOUGH_ROLLOUTS and not run.calls:
        yield Alarm("AGT015", f"no call in the first {run.rollouts} rollouts, wanted at least one", 0, 1)


def _degraded(step: Counts, run: Counts) -> Iterator[Alarm]:
    if step.rollouts < ENOUGH_ROLLOUTS:
        return
    if step.masked > MAX_MASKED * step.rollouts:
        message = f"{step.masked} of {step.rollouts} rollouts of this step are masked, wanted at most half of them"
        yield Alarm("AGT019", message + _most(step), step.masked / step.rollouts, MAX_MASKED)
    before = run.rollouts - step.rollouts
    usual = (run.ends.get(Finish.FINISH_TOOL, 0) - step.ends.get(Finish.FINISH_TOOL, 0)) / before if before > 0 else 0.0
    now = step.ends.get(Finish.FINISH_TOOL, 0) / step.rollouts
    if before >= ENOUGH_ROLLOUTS and usual >= USUAL_FINISH and now < FEW_FINISH:
        message = f"{now:.0%} of this step's rollouts end with finish, {usual:.0%} did before; wanted {FEW_FINISH:.0%}"
        yield Alarm("AGT019", message + " or more", now, FEW_FINISH)


def _most(step: Counts) -> str:
    masked = {end: count for end, count in step.ends.items() if end in MASKED and count}
    if not masked:
        return ""
    end = max(sorted(masked), key=lambda end: masked[end])
    return f"; most of these ended in {end}: {MASKED[end]}"
