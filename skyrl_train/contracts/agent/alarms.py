"""Alarms about the agent during a run: pure rules over its counts, for the doctor's watch.

Each alarm has the measured value and the limit that it exceeded. Too few rollouts give no alarm.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from skyrl_train.contracts.agent.finish import MASKED, Finish
from skyrl_train.contracts.agent.metrics import Counts

ENOUGH_TURNS, MAX_NO_CALLS = 20, 0.5
ENOUGH_ROLLOUTS = 8
MAX_MASKED = 0.5
USUAL_FINISH, FEW_FINISH = 0.3, 0.1
"""The usual share of rollouts that end with `finish`, and the share below which a step is alarming."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm with the id of its failure. `seen` and `limit` are shares or counts."""

    id: str
    message: str
    seen: float
    limit: float


def live_alarms(step: Counts, run: Counts) -> tuple[Alarm, ...]:
    """The alarms for the last step and the run including it. The first three are set-up faults, the last is a training fault."""
    return (*_no_calls(run), *_unknown_tools(run), *_no_tools_at_all(run), *_degraded(step, run))


def _no_calls(run: Counts) -> Iterator[Alarm]:
    if run.turns >= ENOUGH_TURNS and run.no_calls > MAX_NO_CALLS * run.turns:
        message = f"{run.no_calls} of {run.turns} replies have no call; expected at most half of them"
        yield Alarm("AGT001", message, run.no_calls / run.turns, MAX_NO_CALLS)


def _unknown_tools(run: Counts) -> Iterator[Alarm]:
    if run.unknown_tools:
        message = f"{run.unknown_tools} of {run.turns} replies call an unknown function; expected 0"
        yield Alarm("AGT002", message, run.unknown_tools, 0)


def _no_tools_at_all(run: Counts) -> Iterator[Alarm]:
    if run.rollouts >= ENOUGH_ROLLOUTS and not run.calls:
        yield Alarm("AGT015", f"no call in the first {run.rollouts} rollouts; expected at least 1", 0, 1)


def _degraded(step: Counts, run: Counts) -> Iterator[Alarm]:
    if step.rollouts < ENOUGH_ROLLOUTS:
        return
    if step.masked > MAX_MASKED * step.rollouts:
        message = f"{step.masked} of {step.rollouts} rollouts of this step are masked; expected at most half of them"
        yield Alarm("AGT019", message + _most(step), step.masked / step.rollouts, MAX_MASKED)
    before = run.rollouts - step.rollouts
    usual = (run.ends.get(Finish.FINISH_TOOL, 0) - step.ends.get(Finish.FINISH_TOOL, 0)) / before if before > 0 else 0.0
    now = step.ends.get(Finish.FINISH_TOOL, 0) / step.rollouts
    if before >= ENOUGH_ROLLOUTS and usual >= USUAL_FINISH and now < FEW_FINISH:
        message = f"{now:.0%} of this step's rollouts end with finish, compared with {usual:.0%} before; expected {FEW_FINISH:.0%}"
        yield Alarm("AGT019", message + " or more", now, FEW_FINISH)


def _most(step: Counts) -> str:
    masked = {end: count for end, count in step.ends.items() if end in MASKED and count}
    if not masked:
        return ""
    end = max(sorted(masked), key=lambda end: masked[end])
    return f"; most of them ended with {end}: {MASKED[end]}"
