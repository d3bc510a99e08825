"""CKP001, CKP003: a checkpoint that a resume will not find, and a disk that has no room for the next."""

from dataclasses import replace

from skyrl_doctor.core.model import Severity
from skyrl_doctor.core.record import record
from skyrl_doctor.watch.finding import Cleared, Said, raised
from skyrl_doctor.watch.observations import Checkpoint, Fill, Observation
from skyrl_doctor.watch.rules.base import Rule, fix_config

LATE_S = 900.0
GIB = float(1 << 30)
ROOM, LAG = "CKP003.room", "CKP001.tracker"


@record
class State:
    step: int | None = None
    since: float = 0.0
    size_gib: float | None = None
    said: tuple[str, ...] = ()


def judge(state: State, seen: Observation) -> tuple[State, tuple[Said, ...]]:
    if isinstance(seen, Checkpoint):
        return _checkpoint(state, seen)
    if isinstance(seen, Fill) and seen.kind == "disk" and state.size_gib and seen.name == "checkpoints":
        return _room(state, seen, state.size_gib)
    return state, ()


def _checkpoint(state: State, seen: Checkpoint) -> tuple[State, tuple[Said, ...]]:
    if seen.step != state.step:
        state = replace(state, step=seen.step, since=seen.at)
    if seen.bytes:
        state = replace(state, size_gib=max(state.size_gib or 0.0, seen.bytes / GIB))
    if seen.tracked is not None and seen.tracked >= seen.step:
        return _cleared(state, LAG, seen.at)
    if LAG in state.said or seen.at - state.since < LATE_S:
        return state, ()
    stands = "is not there" if seen.tracked is None else f"says {seen.tracked}"
    finding = raised(
        seen.at,
        "CKP001",
        f"global_step_{seen.step} is on disk and latest_checkpointed_iteration.txt {stands}; wanted {seen.step}: "
        "a resume will not find it",
        key=LAG,
        severity=Severity.WARNING,
        remedy=fix_config("resume by path, or turn async_save off", trainer__resume_mode="resume_path"),
    )
    return replace(state, said=(*state.said, LAG)), (finding,)


def _room(state: State, seen: Fill, size: float) -> tuple[State, tuple[Said, ...]]:
    free = seen.limit - seen.used
    if free >= size:
        return _cleared(state, ROOM, seen.at) if free >= 1.5 * size else (state, ())
    if ROOM in state.said:
        return state, ()
    finding = raised(
        seen.at,
        "CKP003",
        f"{free:.1f} GiB are free where checkpoints go and the last took {size:.1f} GiB; wanted room for the next",
        key=ROOM,
        remedy=fix_config("keep fewer checkpoints", trainer__max_actor_ckpt_to_keep="1"),
    )
    return replace(state, said=(*state.said, ROOM)), (finding,)


def _cleared(state: State, key: str, at: float) -> tuple[State, tuple[Said, ...]]:
    if key not in state.said:
        return state, ()
    return replace(state, said=tuple(one for one in state.said if one != key)), (Cleared(at=at, key=key),)


RULE = Rule("checkpoints", State, judge)
