"""AGT001, AGT002, AGT015, AGT019: the trainer's own rules about its agent, on the counts that it writes a step.

The rules are the trainer's; this only adds the counts up, and says a thing when two steps in a row show it.
"""

from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Cleared, Said, raised
from skyrl_doctor.watch.observations import Observation, Rollouts
from skyrl_doctor.watch.rules.base import Rule, Streak, fix_config

SAY_AFTER, CLEAR_AFTER = 2, 3
AT_ONCE = frozenset({"AGT002", "AGT015"})
"""Nothing that training could cure: one step is enough."""
ROOTS = frozenset({"AGT001", "AGT002", "AGT015"})
_REMEDIES = {
    "AGT001": "show the model the XML form of a call in its prompt",
    "AGT002": "give the tools the names that the model calls, or map the aliases",
    "AGT015": "take a model that was trained to call tools",
    "AGT019": "look at the finish reasons of the masked rollouts, and go back to an earlier checkpoint",
}


@record
class State:
    """`run` is the JSON of the counts of all steps so far."""

    run: str = ""
    streaks: Mapping[str, tuple[int, int, bool]] = field(default_factory=dict)


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    if not isinstance(seen, Rollouts):
        return state, ()
    # Imported where counts are there: pydantic, which reads them, costs more than the rest of the watch.
    from skyrl_train.contracts.agent import counts_file
    from skyrl_train.contracts.agent.alarms import live_alarms
    from skyrl_train.contracts.agent.metrics import Counts

    try:
        step = counts_file.read(seen.counts)
        run = (counts_file.read(state.run) if state.run else Counts()) + step
    except (ValueError, RecursionError):  # a line that was cut, or another version's
        return state, ()
    alarms = {alarm.id: alarm.message for alarm in live_alarms(step, run)}
    streaks = dict(state.streaks)
    said: list[Said] = []
    for id_ in dict.fromkeys((*streaks, *alarms)):
        before = Streak(*streaks.get(id_, ()))
        after = 1 if id_ in AT_ONCE else SAY_AFTER
        now = before.after(is_bad=id_ in alarms, say_after=after, clear_after=CLEAR_AFTER)
        streaks[id_] = (now.bad, now.good, now.said)
        if now.said and not before.said:
            said.append(_finding(seen.at, id_, alarms[id_]))
        elif before.said and not now.said:
            said.append(Cleared(at=seen.at, key=f"{id_}.agent"))
    return State(counts_file.line(run).strip(), streaks), tuple(said)


def _finding(at: float, id_: str, message: str) -> Said:
    root = id_ in ROOTS
    severity = Severity.ERROR if root else Severity.WARNING
    remedy = fix_config(_REMEDIES.get(id_, f"skyrl-doctor explain {id_}"))
    return raised(at, id_, message, key=f"{id_}.agent", root=root, severity=severity, remedy=remedy)


RULE = Rule("agent", State, judge)
