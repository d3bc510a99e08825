"""SLM001: a job will end before the run does: the trainer's by its time limit, the runtime's before the trainer's."""

import statistics
from collections.abc import Mapping
from dataclasses import field, replace

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Raised, Said, raised
from skyrl_doctor.watch.observations import Bar, Left, Observation, Step
from skyrl_doctor.watch.rules.base import Rule, fix_config, lasting
from skyrl_doctor.watch.rules.progress import step_s

TRAINER, RUNTIME = "trainer", "runtime"
WHOLE_RUN = "training"
"""The label of verl's bar over all steps begins so."""
LEAST_STEPS = 4
MARGIN_S = 120.0
OVER = frozenset({"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "GONE"})


@record
class State:
    step_at: float | None = None
    step: int = 0
    gaps: tuple[float, ...] = ()
    total: int | None = None
    left: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    said: tuple[str, ...] = ()


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    if isinstance(seen, Step) and seen.step != state.step:
        gap = step_s(seen, state.step_at)
        gaps = state.gaps if gap is None else (*state.gaps, gap)[-10:]
        return replace(state, step=seen.step, step_at=seen.at, gaps=gaps), ()
    if isinstance(seen, Bar) and seen.label.lower().startswith(WHOLE_RUN):
        return replace(state, total=seen.total), ()
    if not isinstance(seen, Left):
        return state, ()
    if seen.seconds is not None:
        state = replace(state, left={**state.left, seen.job: (seen.at, seen.seconds)})
    found = tuple(
        one for one in (_short(state, seen), _peer(state, seen)) if one is not None and one.key not in state.said
    )
    return replace(state, said=(*state.said, *(one.key for one in found))), found


def _short(state: State, seen: Left) -> Raised | None:
    if seen.job != TRAINER or seen.seconds is None or state.total is None or len(state.gaps) < LEAST_STEPS:
        return None
    needed = (state.total - state.step) * statistics.median(state.gaps)
    if needed <= seen.seconds + MARGIN_S:
        return None
    possible = state.step + int(seen.seconds / statistics.median(state.gaps))
    return raised(
        seen.at,
        "SLM001",
        f"{state.total - state.step} steps need {lasting(needed)} and the job has {lasting(seen.seconds)}; wanted as much: "
        f"it will end near step {possible} of {state.total}",
        key="SLM001.trainer",
        severity=Severity.WARNING,
        remedy=fix_config("see that checkpoints are saved often and that resume_mode is auto, or ask for more time"),
    )


def _peer(state: State, seen: Left) -> Raised | None:
    if seen.job == RUNTIME and seen.state in OVER:
        return raised(
            seen.at,
            "SLM001",
            f"the runtime's job is {seen.state} and the trainer goes on; wanted it to run as long",
            key="SLM001.runtime-over",
            root=True,
            remedy=fix_config("give the runtime job at least the trainer's time"),
        )
    trainer, runtime = state.left.get(TRAINER), state.left.get(RUNTIME)
    if trainer is None or runtime is None:
        return None
    ends, serves_until = trainer[0] + trainer[1], runtime[0] + runtime[1]
    if serves_until >= ends - MARGIN_S:
        return None
    return raised(
        seen.at,
        "SLM001",
        f"the runtime's job ends {lasting(ends - serves_until)} before the trainer's; wanted it to last as long",
        key="SLM001.runtime",
        severity=Severity.WARNING,
        remedy=fix_config("give the runtime job at least the trainer's time"),
    )


RULE = Rule("wall", State, judge)
