"""SLM001: the trainer's time limit comes before the run's end, or the runtime's job ends before the trainer's."""

import statistics
from collections.abc import Mapping
from dataclasses import field, replace

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Alert, Change, Update, alert
from skyrl_doctor.watch.observations import Bar, Left, Observation, Step
from skyrl_doctor.watch.rules.base import Rule, duration, fix_config
from skyrl_doctor.watch.rules.progress import step_s

TRAINER, RUNTIME = "trainer", "runtime"
WHOLE_RUN = "training"
"""The label of verl's bar over all steps begins with this."""
LEAST_STEPS = 4
AS_LONG = Change("slurm.runtime_time_limit", like="slurm.trainer_time_limit")
MARGIN_S = 120.0
OVER = frozenset({"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "GONE"})


@record
class WallState:
    step_at: float | None = None
    step: int = 0
    gaps: tuple[float, ...] = ()
    total: int | None = None
    left: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    reported: tuple[str, ...] = ()


def judge(state: WallState, observation: Observation) -> tuple[WallState, tuple[Update, ...]]:
    if isinstance(observation, Step) and observation.step != state.step:
        gap = step_s(observation, state.step_at)
        gaps = state.gaps if gap is None else (*state.gaps, gap)[-10:]
        return replace(state, step=observation.step, step_at=observation.at, gaps=gaps), ()
    if isinstance(observation, Bar) and observation.label.lower().startswith(WHOLE_RUN):
        return replace(state, total=observation.total), ()
    if not isinstance(observation, Left):
        return state, ()
    if observation.seconds is not None:
        state = replace(state, left={**state.left, observation.job: (observation.at, observation.seconds)})
    found = tuple(
        one
        for one in (_short(state, observation), _peer(state, observation))
        if one is not None and one.key not in state.reported
    )
    return replace(state, reported=(*state.reported, *(one.key for one in found))), found


def _short(state: WallState, observation: Left) -> Alert | None:
    if (
        observation.job != TRAINER
        or observation.seconds is None
        or state.total is None
        or len(state.gaps) < LEAST_STEPS
    ):
        return None
    needed = (state.total - state.step) * statistics.median(state.gaps)
    if needed <= observation.seconds + MARGIN_S:
        return None
    possible = state.step + int(observation.seconds / statistics.median(state.gaps))
    return alert(
        observation.at,
        "SLM001",
        f"the last {state.total - state.step} steps need {duration(needed)}, but the job has {duration(observation.seconds)} "
        f"left: it will end near step {possible} of {state.total}",
        key="SLM001.trainer",
        severity=Severity.WARNING,
        advice=fix_config(
            "ask Slurm for more time, or save checkpoints often and resume automatically",
            Change("trainer.resume", "auto"),
        ),
    )


def _peer(state: WallState, observation: Left) -> Alert | None:
    if observation.job == RUNTIME and observation.state in OVER:
        return alert(
            observation.at,
            "SLM001",
            f"the runtime's job ended ({observation.state}) while the trainer runs",
            key="SLM001.runtime-over",
            root=True,
            advice=fix_config("give the runtime's job at least the trainer's time limit", AS_LONG),
        )
    trainer, runtime = state.left.get(TRAINER), state.left.get(RUNTIME)
    if trainer is None or runtime is None:
        return None
    ends, serves_until = trainer[0] + trainer[1], runtime[0] + runtime[1]
    if serves_until >= ends - MARGIN_S:
        return None
    return alert(
        observation.at,
        "SLM001",
        f"the runtime's job ends {duration(ends - serves_until)} before the trainer's",
        key="SLM001.runtime",
        severity=Severity.WARNING,
        advice=fix_config("give the runtime's job at least the trainer's time limit", AS_LONG),
    )


RULE = Rule("wall", WallState, judge)
