"""AGT001, AGT002, AGT015, AGT019: the trainer's own rules about its agent, on the counts that it writes each step.

The trainer owns the rules. This one adds up the counts and reports an alarm that two steps in a row raise.
"""

from collections.abc import Mapping
from dataclasses import field

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Cleared, Update, alert
from skyrl_doctor.watch.observations import Observation, Rollouts
from skyrl_doctor.watch.rules.base import Rule, Streak, fix_config

REPORT_AFTER, CLEAR_AFTER = 2, 3
AT_ONCE = frozenset({"AGT002", "AGT015"})
"""Training cannot cure these: one step is enough."""
ROOTS = frozenset({"AGT001", "AGT002", "AGT015"})
_ADVICE = {
    "AGT001": "show the model the XML form of a call in its prompt",
    "AGT002": "give the tools the names that the model calls, or map the aliases",
    "AGT015": "use a model that was trained to call tools",
    "AGT019": "check the finish reasons of the masked rollouts and resume from an earlier checkpoint",
}


@record
class AgentState:
    """`run` is the JSON of the counts of all steps so far."""

    run: str = ""
    streaks: Mapping[str, tuple[int, int, bool]] = field(default_factory=dict)


def judge(state: AgentState, observation: Observation) -> tuple[AgentState, tuple[Update, ...]]:
    if not isinstance(observation, Rollouts):
        return state, ()
    # Imported only when counts arrive: pydantic, which reads them, costs more than the rest of the watch.
    from skyrl_train.contracts.agent import counts_file
    from skyrl_train.contracts.agent.alarms import live_alarms
    from skyrl_train.contracts.agent.metrics import Counts

    try:
        step = counts_file.read(observation.counts)
        run = (counts_file.read(state.run) if state.run else Counts()) + step
    except (ValueError, RecursionError):  # a line that was cut, or another version's
        return state, ()
    alarms = {alarm.id: alarm.message for alarm in live_alarms(step, run)}
    streaks = dict(state.streaks)
    updates: list[Update] = []
    for id_ in dict.fromkeys((*streaks, *alarms)):
        before = Streak(*streaks.get(id_, ()))
        after = 1 if id_ in AT_ONCE else REPORT_AFTER
        now = before.after(is_bad=id_ in alarms, report_after=after, clear_after=CLEAR_AFTER)
        streaks[id_] = (now.bad, now.good, now.reported)
        if now.reported and not before.reported:
            updates.append(_alert(observation.at, id_, alarms[id_]))
        elif before.reported and not now.reported:
            updates.append(Cleared(at=observation.at, key=f"{id_}.agent"))
    return AgentState(counts_file.line(run).strip(), streaks), tuple(updates)


def _alert(at: float, id_: str, message: str) -> Update:
    root = id_ in ROOTS
    severity = Severity.ERROR if root else Severity.WARNING
    advice = fix_config(_ADVICE.get(id_, f"run skyrl-doctor explain {id_}"))
    return alert(at, id_, message, key=f"{id_}.agent", root=root, severity=severity, advice=advice)


RULE = Rule("agent", AgentState, judge)
