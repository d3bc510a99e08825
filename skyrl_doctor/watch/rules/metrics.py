"""Rules on the figures of a step: several bad ones in a row say it, several good ones take it back."""

from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Cleared, Said, raised
from skyrl_doctor.watch.observations import Observation, Step
from skyrl_doctor.watch.rules.base import Rule, Streak
from skyrl_doctor.watch.rules.conditions import CONDITIONS, Condition

CLEAR_AFTER = 5


@record
class State:
    step: int | None = None
    streaks: Mapping[str, tuple[int, int, bool]] = field(default_factory=dict)


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    if not isinstance(seen, Step) or seen.step == state.step:
        return state, ()
    streaks = dict(state.streaks)
    said: list[Said] = []
    for condition in CONDITIONS:
        wrong = condition.seen(seen.metrics)
        if wrong is None:
            continue
        before = Streak(*streaks.get(condition.key, ()))
        now = before.after(is_bad=bool(wrong), say_after=condition.after, clear_after=CLEAR_AFTER)
        streaks[condition.key] = (now.bad, now.good, now.said)
        if now.said and not before.said:
            said.append(_finding(condition, seen, wrong))
        elif before.said and not now.said:
            said.append(Cleared(at=seen.at, key=condition.key))
    return State(seen.step, streaks), tuple(said)


def _finding(condition: Condition, seen: Step, wrong: str) -> Said:
    return raised(
        seen.at,
        condition.id,
        f"{wrong} for {condition.after} steps in a row; wanted {condition.wanted}",
        key=condition.key,
        root=condition.root,
        severity=condition.severity,
        evidence=(f"step {seen.step}: {wrong}",),
        remedy=condition.remedy,
    )


RULE = Rule("metrics", State, judge)
