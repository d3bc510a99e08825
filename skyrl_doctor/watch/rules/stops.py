"""AGT014: the agent makes no calls, and the configuration strips the text that ends a call.

Neither half is a cause alone: a model may make no calls by itself, and a server may keep its stop text by default.
"""

from dataclasses import replace

from skyrl_doctor.core.model import Location
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Change, Update, alert
from skyrl_doctor.watch.observations import Fault, Hit, Observation, Rollouts, Step
from skyrl_doctor.watch.rules.base import Rule, fix_config

ID = "AGT014"
SILENT = frozenset({"AGT001", "AGT015"})
"""Their lines, figures and counts show that there are no calls."""
ENOUGH = 5
"""Lines that are enough. One figure of a step, or one count, covers many rollouts."""
NO_CALLS = "rollout_metrics/no_call_ratio"


@record
class StopsState:
    """`fault` is its message, file and line."""

    fault: tuple[str, str, int | None] | None = None
    lines: int = 0
    reported: bool = False


def judge(state: StopsState, observation: Observation) -> tuple[StopsState, tuple[Update, ...]]:
    if isinstance(observation, Fault):
        return (
            replace(state, fault=(observation.message, observation.file, observation.line))
            if observation.id == ID
            else state
        ), ()
    if isinstance(observation, Hit) and observation.id in SILENT:
        state = replace(state, lines=state.lines + 1)
    if state.reported or state.fault is None or not (state.lines >= ENOUGH or _is_silent(observation)):
        return state, ()
    message, file, line = state.fault
    found = alert(
        observation.at,
        ID,
        f"the agent's replies contain no calls. Cause in the configuration: {message}",
        key=f"{ID}.no-calls",
        root=True,
        evidence=(f"{file}:{line}: {message}",),
        location=Location(file, line),
        advice=fix_config("keep the stop text in the response", Change("rollout.keep_stop", "true")),
    )
    return replace(state, reported=True), (found,)


def _is_silent(observation: Observation) -> bool:
    if isinstance(observation, Step):
        return observation.metrics.get(NO_CALLS, 0.0) > 0.5
    if not isinstance(observation, Rollouts):
        return False
    # Imported only when counts arrive: pydantic, which reads them, costs more than the rest of the watch.
    from skyrl_train.contracts.agent import counts_file
    from skyrl_train.contracts.agent.alarms import live_alarms

    try:
        step = counts_file.read(observation.counts)
    except (ValueError, RecursionError):
        return False
    return any(alarm.id in SILENT for alarm in live_alarms(step, step))


RULE = Rule("stops", StopsState, judge)
