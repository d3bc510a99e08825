"""AGT018, TRN006: the run makes no progress. The alert cites what other components logged meanwhile.

A run that waits for rollouts shows 0/8 and no error; the refusal is in the server's log. A cause in any log shortens the
patience: the two together are no coincidence.
"""

from collections.abc import Mapping
from dataclasses import field, replace

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Alert, Cleared, Update, alert
from skyrl_doctor.watch.observations import Fault, Hang, Hit, Observation, Phase, Served, Step, Tick, Use
from skyrl_doctor.watch.read.phases import WEIGHTS
from skyrl_doctor.watch.rules.base import Rule, duration, fix_config
from skyrl_doctor.watch.rules.progress import Progress, after, patience_s, step_patience_s

WITH_CAUSE_S = 60.0
"""Patience once a log shows a cause. It is longer where the run's own steps take longer."""
SYNC_S = 300.0
"""A weight sync takes seconds. After a failure on one side, verl and vLLM wait for each other forever."""
STALLED, HUNG, SLOW, WHERE = "AGT018.stall", "TRN006.sync", "AGT018.steps", "AGT018.where"
STACKS_AFTER = frozenset({STALLED, HUNG})
"""Alerts after which the stacks of the job are taken."""
KEPT = 6
MOSTLY = "CFG001 max-tokens-exceed-context or CFG006 tool-parser-missing"
"""The usual causes of refusals where no log and no check gives one: a hint, not a root cause."""
DEAD = frozenset({"worker-proc-failed", "engine-core-dead", "actor-died", "worker-died"})


@record
class StallState:
    progress: Progress = field(default_factory=Progress)
    causes: tuple[tuple[str, str, str, bool], ...] = ()
    """Causes since the last progress: id, slug, the line with its place, and whether it is a root."""
    phase: tuple[str, float, str] | None = None
    refused: Mapping[str, float] = field(default_factory=dict)
    refused_before: Mapping[str, float] = field(default_factory=dict)
    busy: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[tuple[str, str, str, bool], ...] = ()
    """Failed checks of the configuration: causes where requests are refused."""
    reported: tuple[str, ...] = ()


def judge(state: StallState, observation: Observation) -> tuple[StallState, tuple[Update, ...]]:
    progress = after(state.progress, observation)
    moved = progress.at != state.progress.at and state.progress.at is not None and _newer(progress, state.progress)
    state = replace(state, progress=progress)
    if moved:
        cleared = tuple(
            Cleared(at=observation.at, key=key)
            for key in state.reported
            if key != SLOW or isinstance(observation, Step)
        )
        left = tuple(key for key in state.reported if key not in {one.key for one in cleared})
        return replace(state, causes=(), phase=None, refused_before=state.refused, reported=left), cleared
    if isinstance(observation, Hang):
        return _where(state, observation)
    state = _noted(state, observation)
    return _timed(state, observation.at) if isinstance(observation, Tick) else (state, ())


def _where(state: StallState, observation: Hang) -> tuple[StallState, tuple[Update, ...]]:
    """An answer that comes after the run went on again, or a second one, is dropped."""
    if WHERE in state.reported or not STACKS_AFTER & set(state.reported):
        return state, ()
    found = alert(observation.at, "AGT018", observation.message, key=WHERE, evidence=observation.evidence)
    return replace(state, reported=(*state.reported, WHERE)), (found,)


def _newer(now: Progress, before: Progress) -> bool:
    return (now.at or 0.0) > (before.at or 0.0)


def _noted(state: StallState, observation: Observation) -> StallState:
    if isinstance(observation, Hit):
        cause = (
            observation.id or "",
            observation.slug,
            f"{observation.file}:{observation.line}: {observation.text}",
            observation.root,
        )
        known = {(one[0], one[1]) for one in state.causes}
        return state if cause[:2] in known else replace(state, causes=(*state.causes, cause)[:KEPT])
    if isinstance(observation, Phase):
        return replace(
            state,
            phase=(observation.name, observation.at, f"{observation.file}:{observation.line}: {observation.text}"),
        )
    if isinstance(observation, Served):
        bad = (observation.refused or 0.0) + (observation.failed or 0.0)
        before = {observation.url: bad, **state.refused_before}
        return replace(state, refused={**state.refused, observation.url: bad}, refused_before=before)
    if isinstance(observation, Fault):
        fault = (
            observation.id,
            observation.slug,
            f"{observation.file}:{observation.line}: {observation.message}",
            True,
        )
        return replace(state, faults=(*state.faults, fault)[:KEPT])
    if isinstance(observation, Use):
        return replace(state, busy={**state.busy, observation.device: observation.percent})
    return state


def _timed(state: StallState, now: float) -> tuple[StallState, tuple[Update, ...]]:
    still_s = now - (state.progress.at if state.progress.at is not None else now)
    found: tuple[Alert, ...] = ()
    if HUNG not in state.reported and _hung(state, now, still_s):
        found = (_sync_alert(state, now, still_s),)
    elif not {STALLED, HUNG} & set(state.reported) and still_s >= _patience(state):
        found = (_stall_alert(state, now, still_s),)
    elif not state.reported and _steps_missing(state, now):
        found = (_slow_alert(state, now),)
    return replace(state, reported=(*state.reported, *(one.key for one in found))), found


def _patience(state: StallState) -> float:
    usual = patience_s(state.progress)
    if not (any(root for *_, root in state.causes) or _refused(state)):
        return usual
    longest = max(state.progress.gaps, default=0.0)
    return min(usual, max(WITH_CAUSE_S, 2 * longest))


def _hung(state: StallState, now: float, still_s: float) -> bool:
    if state.phase is None or state.phase[0] != WEIGHTS:
        return False
    dead = any(slug in DEAD for _, slug, _, _ in state.causes)
    wanted = WITH_CAUSE_S if dead else SYNC_S
    return now - state.phase[1] >= wanted and still_s >= wanted


def _steps_missing(state: StallState, now: float) -> bool:
    since = state.progress.step_at or state.progress.begun_at
    return since is not None and now - since >= step_patience_s(state.progress)


def _refused(state: StallState) -> dict[str, float]:
    """Requests refused or failed since the last progress, by server."""
    more = {url: count - state.refused_before.get(url, count) for url, count in state.refused.items()}
    return {url: count for url, count in more.items() if count > 0}


def _causes(state: StallState) -> tuple[tuple[str, str, str, bool], ...]:
    return (*state.causes, *state.faults) if _refused(state) else state.causes


def _evidence(state: StallState) -> tuple[str, ...]:
    waiting = [
        f"{label or 'a progress bar'} is at {done}/{total}"
        for label, (done, total) in state.progress.bars.items()
        if done < total
    ]
    refused = [f"{url} refused {count:.0f} requests and completed none" for url, count in _refused(state).items()]
    busy = [f"{device}: {percent:.0f} % busy" for device, percent in state.busy.items()]
    ordered = sorted(_causes(state), key=lambda cause: not cause[3])
    return (*(f"{id_ or slug}: {line}" for id_, slug, line, _ in ordered), *waiting[:3], *refused, *busy)[: 2 * KEPT]


def _stall_alert(state: StallState, now: float, still_s: float) -> Alert:
    causes = [f"{id_} {slug}" for id_, slug, _, root in _causes(state) if root and id_]
    because = f". Cause: {causes[0]} (see the evidence)" if causes else ""
    if not causes and _refused(state):
        because = f". The inference server refuses the requests, mostly because of {MOSTLY}"
    message = (
        f"no rollout, token, step or checkpoint for {duration(still_s)} (last activity: {state.progress.what}); "
        f"expected one within {duration(_patience(state))}{because}"
    )
    advice = fix_config(f"fix {causes[0]} and restart" if causes else "check the logs of vLLM and of the runtime")
    return alert(now, "AGT018", message, key=STALLED, evidence=_evidence(state), advice=advice)


def _sync_alert(state: StallState, now: float, still_s: float) -> Alert:
    assert state.phase is not None
    message = (
        f"the weight sync to the inference server began {duration(now - state.phase[1])} ago, without progress for "
        f"{duration(still_s)}; expected a few seconds. verl and vLLM wait for each other forever"
    )
    advice = fix_config(
        "stop the run, which would wait until its time limit; then find the worker's own error above this line"
    )
    evidence = (state.phase[2], *_evidence(state))
    return alert(now, "TRN006", message, key=HUNG, root=True, evidence=evidence, advice=advice)


def _slow_alert(state: StallState, now: float) -> Alert:
    since = state.progress.step_at or state.progress.begun_at or now
    message = (
        f"the engine generates tokens, but no step has ended for {duration(now - since)}; "
        f"expected one within {duration(step_patience_s(state.progress))}"
    )
    return alert(now, "AGT018", message, key=SLOW, severity=Severity.WARNING, evidence=_evidence(state))


RULE = Rule("stall", StallState, judge)
