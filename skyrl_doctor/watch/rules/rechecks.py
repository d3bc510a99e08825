"""GPU003, POD004, POD005: what preflight found in order and is so no more."""

from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Cleared, Said, raised
from skyrl_doctor.watch.observations import Observation, Recheck
from skyrl_doctor.watch.rules.base import Rule, Streak, fix_env

SAY_AFTER, CLEAR_AFTER = 2, 2
"""A stranger that comes and goes between two looks is none."""


@record
class State:
    streaks: Mapping[str, tuple[int, int, bool]] = field(default_factory=dict)


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    if not isinstance(seen, Recheck):
        return state, ()
    before = Streak(*state.streaks.get(seen.id, ()))
    now = before.after(is_bad=bool(seen.message), say_after=SAY_AFTER, clear_after=CLEAR_AFTER)
    state = State({**state.streaks, seen.id: (now.bad, now.good, now.said)})
    key = f"{seen.id}.recheck"
    if now.said and not before.said:
        severity = Severity.ERROR if seen.is_error else Severity.WARNING
        remedy = fix_env(
            f"as preflight says: skyrl-doctor explain {seen.id}", f"skyrl-doctor preflight --select {seen.id}"
        )
        return state, (raised(seen.at, seen.id, seen.message, key=key, severity=severity, remedy=remedy),)
    if before.said and not now.said:
        return state, (Cleared(at=seen.at, key=key),)
    return state, ()


RULE = Rule("rechecks", State, judge)
