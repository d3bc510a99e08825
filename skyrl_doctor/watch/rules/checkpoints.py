"""CKP001, CKP003: a checkpoint that a resume will not find, and a disk without room for the next one."""

from dataclasses import replace

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Change, Cleared, Update, alert
from skyrl_doctor.watch.observations import Checkpoint, Fill, Observation
from skyrl_doctor.watch.rules.base import Rule, fix_config
from skyrl_train.contracts.checkpoints import layout

LATE_S = 900.0
GIB = float(1 << 30)
ROOM, LAG = "CKP003.room", "CKP001.tracker"


@record
class CheckpointsState:
    step: int | None = None
    since: float = 0.0
    size_gib: float | None = None
    reported: tuple[str, ...] = ()


def judge(state: CheckpointsState, observation: Observation) -> tuple[CheckpointsState, tuple[Update, ...]]:
    if isinstance(observation, Checkpoint):
        return _checkpoint(state, observation)
    if (
        isinstance(observation, Fill)
        and observation.kind == "disk"
        and state.size_gib
        and observation.name == "checkpoints"
    ):
        return _room(state, observation, state.size_gib)
    return state, ()


def _checkpoint(state: CheckpointsState, observation: Checkpoint) -> tuple[CheckpointsState, tuple[Update, ...]]:
    if observation.step != state.step:
        state = replace(state, step=observation.step, since=observation.at)
    if observation.bytes:
        state = replace(state, size_gib=max(state.size_gib or 0.0, observation.bytes / GIB))
    if observation.tracked is not None and observation.tracked >= observation.step:
        return _cleared(state, LAG, observation.at)
    if LAG in state.reported or observation.at - state.since < LATE_S:
        return state, ()
    tracker = "is missing" if observation.tracked is None else f"names {observation.tracked}"
    path = f"{observation.root}/{layout.directory_of(observation.step)}"
    finding = alert(
        observation.at,
        "CKP001",
        f"global_step_{observation.step} is on disk, but latest_checkpointed_iteration.txt {tracker}: "
        "a resume will not find this checkpoint",
        key=LAG,
        severity=Severity.WARNING,
        advice=fix_config(
            "to resume from this checkpoint, name its path; if verl's async_save is on, turn it off",
            Change("trainer.resume", "path"),
            Change("trainer.resume_from", path),
        ),
    )
    return replace(state, reported=(*state.reported, LAG)), (finding,)


def _room(state: CheckpointsState, observation: Fill, size: float) -> tuple[CheckpointsState, tuple[Update, ...]]:
    free = observation.limit - observation.used
    if free >= size:
        return _cleared(state, ROOM, observation.at) if free >= 1.5 * size else (state, ())
    if ROOM in state.reported:
        return state, ()
    finding = alert(
        observation.at,
        "CKP003",
        f"the checkpoint disk has {free:.1f} GiB free, but the last checkpoint took {size:.1f} GiB",
        key=ROOM,
        advice=fix_config("delete old checkpoints and keep fewer of them", Change("trainer.checkpoints_to_keep", "1")),
    )
    return replace(state, reported=(*state.reported, ROOM)), (finding,)


def _cleared(state: CheckpointsState, key: str, at: float) -> tuple[CheckpointsState, tuple[Update, ...]]:
    if key not in state.reported:
        return state, ()
    return replace(state, reported=tuple(one for one in state.reported if one != key)), (Cleared(at=at, key=key),)


RULE = Rule("checkpoints", CheckpointsState, judge)
