"""What counts as progress, and how long this run may go without it: learnt from its own steps."""

import math
import statistics
from collections.abc import Mapping
from dataclasses import field, replace

from skyrl_doctor.core.record import record
from skyrl_doctor.watch.figures import STEP_S
from skyrl_doctor.watch.observations import Bar, Checkpoint, Observation, Rollouts, Served, Step

COLD_S = 1200.0
"""Before three steps have ended: weights load, kernels compile into cold caches, steps of ten minutes are seen."""
LEAST_S = 300.0
LEAST_STEP_S = 1.0
STEPS_TO_LEARN = 3
KEPT_GAPS = 20
STEP_STALL_TIMES = 10
START = "the start of the watch"


@record(kw_only=True)
class Progress:
    """The last activity of each kind. `gaps` are the seconds between the last steps."""

    begun_at: float | None = None
    at: float | None = None
    what: str = START
    step: int | None = None
    step_at: float | None = None
    gaps: tuple[float, ...] = ()
    bars: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    tokens: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    checkpoint: int | None = None


def after(state: Progress, observation: Observation) -> Progress:
    """The state after this observation. `at` moves only with progress."""
    if state.begun_at is None:
        state = replace(state, begun_at=observation.at, at=observation.at)
    if isinstance(observation, Step):
        return _step(state, observation)
    if isinstance(observation, Bar):
        return _bar(state, observation)
    if isinstance(observation, Served):
        return _served(state, observation)
    if isinstance(observation, Rollouts):
        return replace(state, at=observation.at, what="a step's rollouts")
    if isinstance(observation, Checkpoint) and observation.step != state.checkpoint:
        moved = (
            state
            if state.checkpoint is None
            else replace(state, at=observation.at, what=f"checkpoint {observation.step}")
        )
        return replace(moved, checkpoint=observation.step)
    return state


def patience_s(state: Progress) -> float:
    """How long the run may go without progress before it counts as stalled."""
    if len(state.gaps) < STEPS_TO_LEARN:
        return max(COLD_S, 3 * max(state.gaps, default=0.0))
    return max(LEAST_S, 6 * statistics.median(state.gaps), 2.5 * max(state.gaps))


def step_patience_s(state: Progress) -> float:
    """How long the engine may generate tokens without a step ending."""
    if len(state.gaps) < STEPS_TO_LEARN:
        return STEP_STALL_TIMES * COLD_S
    return max(STEP_STALL_TIMES * LEAST_S, STEP_STALL_TIMES * max(state.gaps))


def step_s(observation: Step, before_at: float | None) -> float | None:
    """How long a step took: by the trainer's own figure, or since the last one. Steps read from a backlog give None."""
    own_figure = STEP_S.value(observation.metrics)
    if own_figure is not None and 0 < own_figure < math.inf:
        return own_figure
    passed = observation.at - before_at if before_at is not None else 0.0
    return passed if passed >= LEAST_STEP_S else None


def _step(state: Progress, observation: Step) -> Progress:
    if observation.step == state.step:
        return state
    gap = step_s(observation, state.step_at)
    gaps = state.gaps if gap is None else (*state.gaps, gap)[-KEPT_GAPS:]
    return replace(
        state,
        at=observation.at,
        what=f"step {observation.step}",
        step=observation.step,
        step_at=observation.at,
        gaps=gaps,
    )


def _bar(state: Progress, observation: Bar) -> Progress:
    before = state.bars.get(observation.label)
    known = replace(state, bars={**state.bars, observation.label: (observation.done, observation.total)})
    if len(known.bars) > 64:
        known = replace(known, bars={observation.label: (observation.done, observation.total)})
    if before == (observation.done, observation.total):
        return known
    if observation.done == 0:
        # A bar that begins is no progress: retries draw new ones. It shows how long it has waited already.
        begun = max(state.begun_at or 0.0, 0.0)
        since = observation.at - observation.elapsed_s
        return replace(known, begun_at=min(begun, since), at=min(known.at or since, since)) if _only(state) else known
    return replace(
        known, at=observation.at, what=f"{observation.label or 'a bar'} {observation.done}/{observation.total}"
    )


def _only(state: Progress) -> bool:
    """Whether there was no progress yet since the watch began: then it may have started late."""
    return state.at == state.begun_at


def _served(state: Progress, observation: Served) -> Progress:
    before = state.tokens.get(observation.url)
    now = (observation.generated_tokens or 0.0, observation.finished or 0.0)
    known = replace(state, tokens={**state.tokens, observation.url: now})
    if before is None or (now[0] <= before[0] and now[1] <= before[1]):
        return known
    return replace(known, at=observation.at, what=f"tokens of {observation.url}")
