"""What counts as progress, and how long this run may go without: learnt from its own steps."""

import math
import statistics
from collections.abc import Mapping
from dataclasses import field, replace

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.observations import Bar, Checkpoint, Observation, Rollouts, Served, Step

COLD_S = 1200.0
"""Before three steps have ended: weights load, kernels compile into cold caches, steps of ten minutes are seen."""
LEAST_S = 300.0
LEAST_STEP_S = 1.0
STEPS_TO_LEARN = 3
KEPT_GAPS = 20
STEP_STALL_TIMES = 10


@record(kw_only=True)
class Progress:
    """The last sign of each kind. `gaps` are the seconds between the last steps."""

    begun_at: float | None = None
    at: float | None = None
    what: str = "the start of the watch"
    step: int | None = None
    step_at: float | None = None
    gaps: tuple[float, ...] = ()
    bars: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    tokens: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    checkpoint: int | None = None


def after(state: Progress, seen: Observation) -> Progress:
    """The state with this observation taken in; `at` moves only where something went on."""
    if state.begun_at is None:
        state = replace(state, begun_at=seen.at, at=seen.at)
    if isinstance(seen, Step):
        return _step(state, seen)
    if isinstance(seen, Bar):
        return _bar(state, seen)
    if isinstance(seen, Served):
        return _served(state, seen)
    if isinstance(seen, Rollouts):
        return replace(state, at=seen.at, what="a step's rollouts")
    if isinstance(seen, Checkpoint) and seen.step != state.checkpoint:
        moved = state if state.checkpoint is None else replace(state, at=seen.at, what=f"checkpoint {seen.step}")
        return replace(moved, checkpoint=seen.step)
    return state


def patience_s(state: Progress) -> float:
    """How long nothing may move before that is a stall."""
    if len(state.gaps) < STEPS_TO_LEARN:
        return max(COLD_S, 3 * max(state.gaps, default=0.0))
    return max(LEAST_S, 6 * statistics.median(state.gaps), 2.5 * max(state.gaps))


def step_patience_s(state: Progress) -> float:
    """How long tokens may flow without a step."""
    if len(state.gaps) < STEPS_TO_LEARN:
        return STEP_STALL_TIMES * COLD_S
    return max(STEP_STALL_TIMES * LEAST_S, STEP_STALL_TIMES * max(state.gaps))


def step_s(seen: Step, before_at: float | None) -> float | None:
    """How long a step took: as the trainer says, else since the last one. Steps read out of a backlog tell nothing."""
    told = next((seen.metrics[name] for name in ("timing_s/step", "perf/time_per_step") if name in seen.metrics), None)
    if told is not None and 0 < told < math.inf:
        return told
    passed = seen.at - before_at if before_at is not None else 0.0
    return passed if passed >= LEAST_STEP_S else None


def _step(state: Progress, seen: Step) -> Progress:
    if seen.step == state.step:
        return state
    gap = step_s(seen, state.step_at)
    gaps = state.gaps if gap is None else (*state.gaps, gap)[-KEPT_GAPS:]
    return replace(state, at=seen.at, what=f"step {seen.step}", step=seen.step, step_at=seen.at, gaps=gaps)


def _bar(state: Progress, seen: Bar) -> Progress:
    before = state.bars.get(seen.label)
    known = replace(state, bars={**state.bars, seen.label: (seen.done, seen.total)})
    if len(known.bars) > 64:
        known = replace(known, bars={seen.label: (seen.done, seen.total)})
    if before == (seen.done, seen.total):
        return known
    if seen.done == 0:
        # A bar that begins is no progress: retries draw new ones. It tells how long it has waited already.
        begun = max(state.begun_at or 0.0, 0.0)
        since = seen.at - seen.elapsed_s
        return replace(known, begun_at=min(begun, since), at=min(known.at or since, since)) if _only(state) else known
    return replace(known, at=seen.at, what=f"{seen.label or 'a bar'} {seen.done}/{seen.total}")


def _only(state: Progress) -> bool:
    """Whether nothing has moved yet since the watch began: then it may have come late."""
    return state.at == state.begun_at


def _served(state: Progress, seen: Served) -> Progress:
    before = state.tokens.get(seen.url)
    now = (seen.generated_tokens or 0.0, seen.finished or 0.0)
    known = replace(state, tokens={**state.tokens, seen.url: now})
    if before is None or (now[0] <= before[0] and now[1] <= before[1]):
        return known
    return replace(known, at=seen.at, what=f"tokens of {seen.url}")
