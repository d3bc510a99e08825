"""AGT018, TRN006: nothing moves any more. Named with what another component said meanwhile, for there the error stands.

A run that waits for rollouts shows 0/8 and no error; the server's log holds the refusal. A cause in any log makes the
patience short: the two together are no coincidence.
"""

from collections.abc import Mapping
from dataclasses import field, replace

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Cleared, Raised, Said, raised
from skyrl_doctor.watch.observations import Fault, Hit, Observation, Phase, Served, Step, Tick, Use
from skyrl_doctor.watch.read.phases import WEIGHTS
from skyrl_doctor.watch.rules.base import Rule, fix_config, lasting
from skyrl_doctor.watch.rules.progress import Progress, after, patience_s, step_patience_s

WITH_CAUSE_S = 60.0
"""Patience once a log shows a cause. Steps that are known to take longer raise it."""
SYNC_S = 300.0
"""Moving weights takes seconds; verl and vLLM wait for each other for ever when one of them has failed at it."""
STALLED, HUNG, SLOW = "AGT018.stall", "TRN006.sync", "AGT018.steps"
KEPT = 6
MOSTLY = "CFG001 max-tokens-exceed-context or CFG006 tool-parser-missing"
"""What refusals come from where no log and no configuration says more: a hint, and no root."""
DEAD = frozenset({"worker-proc-failed", "engine-core-dead", "actor-died", "worker-died"})


@record
class State:
    progress: Progress = field(default_factory=Progress)
    causes: tuple[tuple[str, str, str, bool], ...] = ()
    """Since something moved last: id, slug, the line with its place, and whether it is a root."""
    phase: tuple[str, float, str] | None = None
    refused: Mapping[str, float] = field(default_factory=dict)
    refused_before: Mapping[str, float] = field(default_factory=dict)
    busy: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[tuple[str, str, str, bool], ...] = ()
    """What checks say of the job's configuration; a cause where requests are refused."""
    said: tuple[str, ...] = ()


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    progress = after(state.progress, seen)
    moved = progress.at != state.progress.at and state.progress.at is not None and _newer(progress, state.progress)
    state = replace(state, progress=progress)
    if moved:
        cleared = tuple(Cleared(at=seen.at, key=key) for key in state.said if key != SLOW or isinstance(seen, Step))
        left = tuple(key for key in state.said if key not in {one.key for one in cleared})
        return replace(state, causes=(), phase=None, refused_before=state.refused, said=left), cleared
    state = _noted(state, seen)
    return _timed(state, seen.at) if isinstance(seen, Tick) else (state, ())


def _newer(now: Progress, before: Progress) -> bool:
    return (now.at or 0.0) > (before.at or 0.0)


def _noted(state: State, seen: Observation) -> State:
    if isinstance(seen, Hit):
        cause = (seen.id or "", seen.slug, f"{seen.file}:{seen.line}: {seen.text}", seen.root)
        known = {(one[0], one[1]) for one in state.causes}
        return state if cause[:2] in known else replace(state, causes=(*state.causes, cause)[:KEPT])
    if isinstance(seen, Phase):
        return replace(state, phase=(seen.name, seen.at, f"{seen.file}:{seen.line}: {seen.text}"))
    if isinstance(seen, Served):
        bad = (seen.refused or 0.0) + (seen.failed or 0.0)
        before = {seen.url: bad, **state.refused_before}
        return replace(state, refused={**state.refused, seen.url: bad}, refused_before=before)
    if isinstance(seen, Fault):
        fault = (seen.id, seen.slug, f"{seen.file}:{seen.line}: {seen.message}", True)
        return replace(state, faults=(*state.faults, fault)[:KEPT])
    if isinstance(seen, Use):
        return replace(state, busy={**state.busy, seen.device: seen.percent})
    return state


def _timed(state: State, now: float) -> tuple[State, tuple[Said, ...]]:
    still_s = now - (state.progress.at if state.progress.at is not None else now)
    found: tuple[Raised, ...] = ()
    if HUNG not in state.said and _hung(state, now, still_s):
        found = (_sync_finding(state, now, still_s),)
    elif not {STALLED, HUNG} & set(state.said) and still_s >= _patience(state):
        found = (_stall_finding(state, now, still_s),)
    elif not state.said and _steps_missing(state, now):
        found = (_slow_finding(state, now),)
    return replace(state, said=(*state.said, *(one.key for one in found))), found


def _patience(state: State) -> float:
    usual = patience_s(state.progress)
    if not (any(root for *_, root in state.causes) or _refused(state)):
        return usual
    longest = max(state.progress.gaps, default=0.0)
    return min(usual, max(WITH_CAUSE_S, 2 * longest))


def _hung(state: State, now: float, still_s: float) -> bool:
    if state.phase is None or state.phase[0] != WEIGHTS:
        return False
    dead = any(slug in DEAD for _, slug, _, _ in state.causes)
    wanted = WITH_CAUSE_S if dead else SYNC_S
    return now - state.phase[1] >= wanted and still_s >= wanted


def _steps_missing(state: State, now: float) -> bool:
    since = state.progress.step_at or state.progress.begun_at
    return since is not None and now - since >= step_patience_s(state.progress)


def _refused(state: State) -> dict[str, float]:
    """Requests refused or failed since something moved last, by server."""
    more = {url: count - state.refused_before.get(url, count) for url, count in state.refused.items()}
    return {url: count for url, count in more.items() if count > 0}


def _causes(state: State) -> tuple[tuple[str, str, str, bool], ...]:
    return (*state.causes, *state.faults) if _refused(state) else state.causes


def _evidence(state: State) -> tuple[str, ...]:
    waiting = [
        f"{label or 'a bar'} stands at {done}/{total}"
        for label, (done, total) in state.progress.bars.items()
        if done < total
    ]
    refused = [f"{url} refused {count:.0f} requests and finished none" for url, count in _refused(state).items()]
    busy = [f"{device}: {percent:.0f} % busy" for device, percent in state.busy.items()]
    ordered = sorted(_causes(state), key=lambda cause: not cause[3])
    return (*(f"{id_ or slug}: {line}" for id_, slug, line, _ in ordered), *waiting[:3], *refused, *busy)[: 2 * KEPT]


def _stall_finding(state: State, now: float, still_s: float) -> Raised:
    causes = [f"{id_} {slug}" for id_, slug, _, root in _causes(state) if root and id_]
    because = f"; the cause is {causes[0]}, see the evidence" if causes else ""
    if not causes and _refused(state):
        because = f"; the inference server refuses the requests: mostly {MOSTLY}"
    message = (
        f"no rollout, token, step or checkpoint for {lasting(still_s)} (the last was {state.progress.what}); "
        f"wanted one within {lasting(_patience(state))}{because}"
    )
    remedy = fix_config(
        f"mend {causes[0]} and start again" if causes else "look at the logs of vLLM and of the runtime"
    )
    return raised(now, "AGT018", message, key=STALLED, evidence=_evidence(state), remedy=remedy)


def _sync_finding(state: State, now: float, still_s: float) -> Raised:
    assert state.phase is not None
    message = (
        f"the weights began to move to the inference server {lasting(now - state.phase[1])} ago and nothing has moved "
        f"for {lasting(still_s)}; wanted seconds. verl and vLLM wait for each other for ever"
    )
    remedy = fix_config(
        "stop the run: it ends at its time limit only; then look for the worker's own error above this line"
    )
    evidence = (state.phase[2], *_evidence(state))
    return raised(now, "TRN006", message, key=HUNG, root=True, evidence=evidence, remedy=remedy)


def _slow_finding(state: State, now: float) -> Raised:
    since = state.progress.step_at or state.progress.begun_at or now
    message = (
        f"tokens flow, and no step has ended for {lasting(now - since)}; "
        f"wanted one within {lasting(step_patience_s(state.progress))}"
    )
    return raised(now, "AGT018", message, key=SLOW, severity=Severity.WARNING, evidence=_evidence(state))


RULE = Rule("stall", State, judge)
