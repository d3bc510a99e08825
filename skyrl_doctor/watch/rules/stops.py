"""AGT014: the agent makes no calls, and the job's own configuration takes the text away that closes one.

Neither half is a cause alone: a model may make no calls of itself, and a server may keep its stop text unasked.
"""

from dataclasses import replace

from skyrl_doctor.core.model import Location
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Said, raised
from skyrl_doctor.watch.observations import Fault, Hit, Observation, Rollouts, Step
from skyrl_doctor.watch.rules.base import Rule, fix_config

ID = "AGT014"
SILENT = frozenset({"AGT001", "AGT015"})
"""Their lines, figures and counts say that there are no calls."""
ENOUGH = 5
"""So many lines; one figure of a step, or one count, is of many rollouts."""
NO_CALLS = "rollout_metrics/no_call_ratio"


@record
class State:
    """`fault` is its message, file and line."""

    fault: tuple[str, str, int | None] | None = None
    lines: int = 0
    said: bool = False


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    if isinstance(seen, Fault):
        return (replace(state, fault=(seen.message, seen.file, seen.line)) if seen.id == ID else state), ()
    if isinstance(seen, Hit) and seen.id in SILENT:
        state = replace(state, lines=state.lines + 1)
    if state.said or state.fault is None or not (state.lines >= ENOUGH or _is_silent(seen)):
        return state, ()
    message, file, line = state.fault
    found = raised(
        seen.at,
        ID,
        f"the agent's replies hold no calls, and the configuration says why: {message}",
        key=f"{ID}.no-calls",
        root=True,
        evidence=(f"{file}:{line}: {message}",),
        location=Location(file, line),
        remedy=fix_config("keep the stop text in the answer", rollout__keep_stop="true"),
    )
    return replace(state, said=True), (found,)


def _is_silent(seen: Observation) -> bool:
    if isinstance(seen, Step):
        return seen.metrics.get(NO_CALLS, 0.0) > 0.5
    if not isinstance(seen, Rollouts):
        return False
    # Imported where counts are there: pydantic, which reads them, costs more than the rest of the watch.
    from skyrl_train.contracts.agent import counts_file
    from skyrl_train.contracts.agent.alarms import live_alarms

    try:
        step = counts_file.read(seen.counts)
    except (ValueError, RecursionError):
        return False
    return any(alarm.id in SILENT for alarm in live_alarms(step, step))


RULE = Rule("stops", State, judge)
