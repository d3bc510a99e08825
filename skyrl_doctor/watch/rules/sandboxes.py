"""RUN001, RUN005, RUN010, IMG005: what the sandbox runtime says of itself: keys, slots, starts, errors."""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from skyrl_doctor.core.model import Remedy, RemedyKind, Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Cleared, Raised, Said, raised
from skyrl_doctor.watch.observations import Observation, Sandboxes
from skyrl_doctor.watch.rules.base import Rule, Streak, fix_config, lasting

SAY_AFTER, CLEAR_AFTER = 4, 4
"""Looks in a row: the runtime is looked at every fifteen seconds."""
LATE_S = 60.0
MANY_5XX, LEAST_RESPONSES = 0.1, 20.0


@record
class State:
    streaks: Mapping[str, tuple[int, int, bool]] = field(default_factory=dict)
    responses: float | None = None
    errors: float | None = None
    building_since: float | None = None


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    if not isinstance(seen, Sandboxes):
        return state, ()
    since = (state.building_since or seen.at) if seen.building else None
    state = replace(state, building_since=since)
    wrong = {one.key: one for one in _wrong(state, seen)}
    streaks = dict(state.streaks)
    said: list[Said] = []
    for key in dict.fromkeys((*streaks, *wrong)):
        before = Streak(*streaks.get(key, ()))
        now = before.after(is_bad=key in wrong, say_after=SAY_AFTER, clear_after=CLEAR_AFTER)
        streaks[key] = (now.bad, now.good, now.said)
        if now.said and not before.said:
            said.append(wrong[key])
        elif before.said and not now.said:
            said.append(Cleared(at=seen.at, key=key))
    counted = replace(state, streaks=streaks, responses=seen.responses, errors=seen.errors_5xx)
    return counted, tuple(said)


def _wrong(state: State, seen: Sandboxes) -> Iterator[Raised]:
    if seen.status in (401, 403):
        message = f"the runtime answers {seen.status} to the job's own key; wanted 200"
        yield _raised(seen, "RUN001.refused", message, fix_config("give trainer and runtime the same key file"))
    elif seen.status is None or seen.status >= 500:
        message = f"the runtime gives no answer ({seen.why or seen.status}); wanted 200"
        retry = Remedy(kind=RemedyKind.RETRY, summary="look at the runtime job: squeue, and its log")
        yield _raised(seen, "RUN010.down", message, retry)
    if seen.slots and seen.free is not None and seen.free <= 0 and (seen.pending or 0) > 0:
        message = f"all {seen.slots:.0f} slots are taken and {seen.pending:.0f} sandboxes wait; wanted a free one"
        remedy = fix_config("give the runtime more CPUs, or run fewer rollouts at once")
        yield _raised(seen, "RUN005.slots", message, remedy, severity=Severity.WARNING)
    yield from _slow(state, seen)


def _slow(state: State, seen: Sandboxes) -> Iterator[Raised]:
    if seen.start_p95_s is not None and seen.start_p95_s >= LATE_S:
        took = lasting(seen.start_p95_s)
        message = f"one in 20 sandboxes takes {took} or more to start; wanted less than {lasting(LATE_S)}"
        remedy = fix_config("start fewer at once, and build images before the run")
        yield _raised(seen, "RUN010.start", message, remedy, severity=Severity.WARNING)
    answered = (seen.responses or 0.0) - (state.responses if state.responses is not None else seen.responses or 0.0)
    failed = (seen.errors_5xx or 0.0) - (state.errors or 0.0)
    if answered >= LEAST_RESPONSES and failed > MANY_5XX * answered:
        message = f"{failed:.0f} of {answered:.0f} answers of the runtime are 5xx; wanted at most {MANY_5XX:.0%}"
        remedy = fix_config("start fewer sandboxes at once; look at the runtime's log")
        yield _raised(seen, "RUN010.errors", message, remedy, severity=Severity.WARNING)
    if state.building_since is not None and seen.at - state.building_since >= 2 * LATE_S:
        took = lasting(seen.at - state.building_since)
        message = f"images are built while rollouts wait, for {took} by now; wanted them built before the run"
        remedy = Remedy(kind=RemedyKind.REBUILD_IMAGE, summary="build the images before the run")
        yield _raised(seen, "IMG005.building", message, remedy, severity=Severity.WARNING)


def _raised(seen: Sandboxes, key: str, message: str, remedy: Remedy, *, severity: Severity = Severity.ERROR) -> Raised:
    evidence = (f"{seen.url}: {seen.status if seen.status is not None else seen.why}",)
    return raised(seen.at, key.partition(".")[0], message, key=key, severity=severity, evidence=evidence, remedy=remedy)


RULE = Rule("sandboxes", State, judge)
