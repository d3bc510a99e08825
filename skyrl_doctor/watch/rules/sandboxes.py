"""RUN001, RUN005, RUN010, IMG005: the sandbox runtime's own report: key, slots, start times, errors."""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from skyrl_doctor.core.model import RemedyKind, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Advice, Alert, Change, Cleared, Update, alert
from skyrl_doctor.watch.observations import Observation, Sandboxes
from skyrl_doctor.watch.rules.base import Rule, Streak, duration, fix_config

REPORT_AFTER, CLEAR_AFTER = 4, 4
"""Observations in a row; the runtime is asked every fifteen seconds."""
LATE_S = 60.0
MANY_5XX, LEAST_RESPONSES = 0.1, 20.0
FEWER = Change("agent.max_parallel", times=0.5)


@record
class SandboxesState:
    streaks: Mapping[str, tuple[int, int, bool]] = field(default_factory=dict)
    responses: float | None = None
    errors: float | None = None
    building_since: float | None = None


def judge(state: SandboxesState, observation: Observation) -> tuple[SandboxesState, tuple[Update, ...]]:
    if not isinstance(observation, Sandboxes):
        return state, ()
    since = (state.building_since or observation.at) if observation.building else None
    state = replace(state, building_since=since)
    wrong = {one.key: one for one in _wrong(state, observation)}
    streaks = dict(state.streaks)
    updates: list[Update] = []
    for key in dict.fromkeys((*streaks, *wrong)):
        before = Streak(*streaks.get(key, ()))
        now = before.after(is_bad=key in wrong, report_after=REPORT_AFTER, clear_after=CLEAR_AFTER)
        streaks[key] = (now.bad, now.good, now.reported)
        if now.reported and not before.reported:
            updates.append(wrong[key])
        elif before.reported and not now.reported:
            updates.append(Cleared(at=observation.at, key=key))
    counted = replace(state, streaks=streaks, responses=observation.responses, errors=observation.errors_5xx)
    return counted, tuple(updates)


def _wrong(state: SandboxesState, observation: Sandboxes) -> Iterator[Alert]:
    if observation.status in (401, 403):
        message = f"the runtime rejects the job's key with status {observation.status}; expected 200"
        yield _alert(
            observation, "RUN001.refused", message, fix_config("use the same key file for trainer and runtime")
        )
    elif observation.status is None or observation.status >= 500:
        message = f"the runtime does not answer ({observation.why or observation.status}); expected status 200"
        advice = Advice(kind=RemedyKind.RETRY, summary="check the runtime job with squeue, and its log")
        yield _alert(observation, "RUN010.down", message, advice)
    if observation.slots and observation.free is not None and observation.free <= 0 and (observation.pending or 0) > 0:
        message = f"all {observation.slots:.0f} sandbox slots are in use and {observation.pending:.0f} sandboxes wait"
        slots = Change("agent.max_parallel", f"{observation.slots:.0f}")
        advice = fix_config("give the runtime more CPUs, or run fewer rollouts at once", slots)
        yield _alert(observation, "RUN005.slots", message, advice, severity=Severity.WARNING)
    yield from _slow(state, observation)


def _slow(state: SandboxesState, observation: Sandboxes) -> Iterator[Alert]:
    if observation.start_p95_s is not None and observation.start_p95_s >= LATE_S:
        took = duration(observation.start_p95_s)
        message = f"1 in 20 sandboxes takes {took} or more to start; expected less than {duration(LATE_S)}"
        advice = fix_config("start fewer sandboxes at once, and build images before the run", FEWER)
        yield _alert(observation, "RUN010.start", message, advice, severity=Severity.WARNING)
    answered = (observation.responses or 0.0) - (
        state.responses if state.responses is not None else observation.responses or 0.0
    )
    failed = (observation.errors_5xx or 0.0) - (state.errors or 0.0)
    if answered >= LEAST_RESPONSES and failed > MANY_5XX * answered:
        message = f"{failed:.0f} of {answered:.0f} runtime responses have status 5xx; expected at most {MANY_5XX:.0%}"
        advice = fix_config("start fewer sandboxes at once, and check the runtime's log", FEWER)
        yield _alert(observation, "RUN010.errors", message, advice, severity=Severity.WARNING)
    if state.building_since is not None and observation.at - state.building_since >= 2 * LATE_S:
        took = duration(observation.at - state.building_since)
        message = (
            f"the runtime has been building images for {took} while the job runs; expected images built before the run"
        )
        advice = Advice(kind=RemedyKind.REBUILD_IMAGE, summary="build the images before the run")
        yield _alert(observation, "IMG005.building", message, advice, severity=Severity.WARNING)


def _alert(
    observation: Sandboxes, key: str, message: str, advice: Advice, *, severity: Severity = Severity.ERROR
) -> Alert:
    evidence = (f"{observation.url}: {observation.status if observation.status is not None else observation.why}",)
    return alert(
        observation.at, key.partition(".")[0], message, key=key, severity=severity, evidence=evidence, advice=advice
    )


RULE = Rule("sandboxes", SandboxesState, judge)
