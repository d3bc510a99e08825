"""GPU003, POD004, POD005: checks that preflight passed and that fail while the job runs."""

from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Cleared, Update, alert
from skyrl_doctor.watch.observations import Observation, Recheck
from skyrl_doctor.watch.rules.base import Rule, Streak, fix_env

REPORT_AFTER, CLEAR_AFTER = 2, 2
"""A process that comes and goes between two checks is no stranger."""


@record
class RechecksState:
    streaks: Mapping[str, tuple[int, int, bool]] = field(default_factory=dict)


def judge(state: RechecksState, observation: Observation) -> tuple[RechecksState, tuple[Update, ...]]:
    if not isinstance(observation, Recheck):
        return state, ()
    before = Streak(*state.streaks.get(observation.id, ()))
    now = before.after(is_bad=bool(observation.message), report_after=REPORT_AFTER, clear_after=CLEAR_AFTER)
    state = RechecksState({**state.streaks, observation.id: (now.bad, now.good, now.reported)})
    key = f"{observation.id}.recheck"
    if now.reported and not before.reported:
        severity = Severity.ERROR if observation.is_error else Severity.WARNING
        advice = fix_env(
            f"see skyrl-doctor explain {observation.id}", f"skyrl-doctor preflight --select {observation.id}"
        )
        return state, (
            alert(observation.at, observation.id, observation.message, key=key, severity=severity, advice=advice),
        )
    if before.reported and not now.reported:
        return state, (Cleared(at=observation.at, key=key),)
    return state, ()


RULE = Rule("rechecks", RechecksState, judge)
