"""Rules on the figures of a step: several bad steps in a row raise an alert, several good ones clear it."""

from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Cleared, Update, alert
from skyrl_doctor.watch.observations import Observation, Step
from skyrl_doctor.watch.rules.base import Rule, Streak
from skyrl_doctor.watch.rules.conditions import CONDITIONS, Condition

CLEAR_AFTER = 5


@record
class MetricsState:
    """`judged` has the last step of each condition: a framework may print a step's figures in several lines. `firsts` has
    the first of the bad steps in a row."""

    judged: Mapping[str, int] = field(default_factory=dict)
    streaks: Mapping[str, tuple[int, int, bool]] = field(default_factory=dict)
    firsts: Mapping[str, int] = field(default_factory=dict)


def judge(state: MetricsState, observation: Observation) -> tuple[MetricsState, tuple[Update, ...]]:
    if not isinstance(observation, Step):
        return state, ()
    judged, streaks, firsts = dict(state.judged), dict(state.streaks), dict(state.firsts)
    updates: list[Update] = []
    for condition in CONDITIONS:
        wrong = condition.fault(observation.metrics)
        if wrong is None or judged.get(condition.key) == observation.step:
            continue
        judged[condition.key] = observation.step
        before = Streak(*streaks.get(condition.key, ()))
        now = before.after(is_bad=bool(wrong), report_after=condition.after, clear_after=CLEAR_AFTER)
        streaks[condition.key] = (now.bad, now.good, now.reported)
        if now.bad == 1:
            firsts[condition.key] = observation.step
        if now.reported and not before.reported:
            updates.append(_alert(condition, observation, wrong, firsts.get(condition.key)))
        elif before.reported and not now.reported:
            updates.append(Cleared(at=observation.at, key=condition.key))
    return MetricsState(judged, streaks, firsts), tuple(updates)


def _alert(condition: Condition, observation: Step, wrong: str, first: int | None) -> Update:
    return alert(
        observation.at,
        condition.id,
        f"{wrong} for {condition.after} steps in a row; expected {condition.expected}",
        key=condition.key,
        root=condition.root,
        severity=condition.severity,
        evidence=(f"step {observation.step}: {wrong}",),
        advice=condition.advise(observation.trainer, first),
        step=first,
    )


RULE = Rule("metrics", MetricsState, judge)
